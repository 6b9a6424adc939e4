use nomina::prelude::*;

dims! { N, C, K }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let ids = tensor!([0., 1.]; K);
    let y = x.index_select(C, &ids);
}

// fix 7: let ids = tensor!([0, 1]; K);
