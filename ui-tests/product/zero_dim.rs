use nomina::prelude::*;

dims! { N, K }

fn main() {
    let x = Tensor::<()>::zeros([]);
    let w = Tensor::<(N, K)>::zeros([3, 2]);
    let y = x.matmul(&w);
}

// fix: let y = &x * &w;
