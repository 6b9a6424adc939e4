use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let y: Tensor<(N,)> = x.sum(N);
}

// fix: let y: Tensor<(N,)> = x.sum(C);
