use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = tensor!([0.; 2, 3]; N, C);
    let y: Tensor<(N,)> = x.sum(C);
}

// fix: let x = tensor!([[0.; 3]; 2]; N, C);
