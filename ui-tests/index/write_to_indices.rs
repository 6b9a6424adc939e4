use nomina::prelude::*;

dims! { N, C, K }

fn main() {
    let mut x = Tensor::<(N, C)>::zeros([2, 3]);
    let ids = tensor!([0, 1]; K);
    x.at_mut((C.i(&ids),)).fill_(1.0);
}

// fix: x.index_fill_(C, &ids, 1.0);
