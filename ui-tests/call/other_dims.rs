use nomina::prelude::*;

dims! { N, C }

fn take(_: &Tensor<(C, N)>) {}

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    take(&x);
}

// fix: take(&x.align_to((C, N)));
