use nomina::prelude::*;

dims! { A, B, C, H, K, M, N, W, Height }

fn main() {
    let x = Tensor::<(A, B, C, H, K, M, N, W)>::zeros([1; 8]);
    let y = stack(&[&x], Height);
}

// fix: let y = stack(&[&x.squeeze(A)], Height);
