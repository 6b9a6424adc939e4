use nomina::prelude::*;

dims! { B, T, S, K, Features }

fn main() {
    let q = Tensor::<(B, T, K)>::zeros([2, 3, 4]);
    let k = Tensor::<(B, S, K)>::zeros([2, 5, 4]);
    let y = einsum!(q[B, T, K] * k[B, S, K] -> [B, T, Features]);
}

// fix: let y = einsum!(q[B, T, K] * k[B, S, K] -> [B, T, S]);
