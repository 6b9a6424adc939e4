use nomina::prelude::*;

dims! { B, N, K, M }

fn main() {
    let x = Tensor::<(B, N, K)>::zeros([2, 3, 4]);
    let w = Tensor::<(K, M)>::zeros([4, 5]);
    let y = x.bmm(&w);
}

// fix: let y = x.matmul(&w);
