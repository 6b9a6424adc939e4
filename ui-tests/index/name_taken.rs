use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let rows = tensor!([0, 1]; N);
    let y = x.index_select(C, &rows);
}

// fix 3: dims! { N, C, K }
// fix 7: let rows = tensor!([0, 1]; K);
