use nomina::prelude::*;

dims! { N, K }

fn main() {
    let x = Tensor::<(N, K)>::zeros([3, 2]);
    let w = Tensor::<()>::zeros([]);
    let y = x.matmul(&w);
}

// fix: let y = &x * &w;
