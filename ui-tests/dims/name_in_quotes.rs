use nomina::prelude::*;

dims! { "N", C }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let _: Tensor<(C,)> = x.sum(N);
}

// fix: dims! { N, C }
