use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = tensor!([[1., 2.], [3. 4.]]; N, C);
    let y: Tensor<(N,)> = x.sum(C);
}

// fix: let x = tensor!([[1., 2.], [3., 4.]]; N, C);
