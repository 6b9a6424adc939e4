use nomina::prelude::*;

dims! { N, C, A, B, K }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let y = x.rename(.., (A, B, K));
}

// fix: let y = x.rename(.., (A, B));
