use nomina::prelude::*;

dims! { N, K }

fn main() {
    let x = Tensor::<(N, K)>::zeros([2, 3]);
    let w = Tensor::<(K, N)>::zeros([3, 2]);
    let y = x.matmul(&w);
}

// fix: let y = x.matmul(&w.prime(N));
