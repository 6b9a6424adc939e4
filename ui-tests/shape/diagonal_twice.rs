use nomina::prelude::*;

dims! { N, C, K }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let y = x.diagonal(N, N, K);
}

// fix: let y = x.diagonal(N, C, K);
