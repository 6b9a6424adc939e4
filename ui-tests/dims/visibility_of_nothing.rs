use nomina::prelude::*;

dims! { N, C, pub }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let _: Tensor<(N,)> = x.sum(C);
}

// fix: dims! { N, C }
