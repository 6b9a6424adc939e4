use nomina::grad::grad;
use nomina::prelude::*;

dims! { N, C, K }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let w = Tensor::<(C, K)>::zeros([3, 4]);
    let g = grad(|w| x.matmul(w), &w);
}

// fix: let g = grad(|w| x.matmul(w).sum(..), &w);
