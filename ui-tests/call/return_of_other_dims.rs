use nomina::prelude::*;

dims! { N, C }

fn transposed(x: &Tensor<(N, C)>) -> Tensor<(C, N)> {
    x.rename((N, C), (C, N))
}

fn rows(x: &Tensor<(N, C)>) -> Tensor<(N,)> {
    x.sum(N)
}

fn main() {}

// fix: x.sum(C)
