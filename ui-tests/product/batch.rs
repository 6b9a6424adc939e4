use nomina::prelude::*;

dims! { A, B, N, K, M }

fn main() {
    let x = Tensor::<(A, N, K)>::zeros([2, 3, 4]);
    let w = Tensor::<(B, K, M)>::zeros([2, 4, 5]);
    let y = x.matmul(&w);
}

// fix: let y = x.matmul(&w.rename(B, A));
