use nomina::prelude::*;

dims! { N, K, M }

fn main() {
    let x = Tensor::<(N, K)>::zeros([2, 3]);
    let w = Tensor::<(K, M)>::zeros_with::<f64>([3, 4]);
    let y = x.matmul(&w);
}

// fix: let y = x.matmul(&w.to::<f32>());
