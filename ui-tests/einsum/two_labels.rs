use nomina::prelude::*;

dims! { N, C, H, Q }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let w = Tensor::<(C, H)>::zeros([3, 4]);
    let y = einsum!(x[N, Q] * w[Q, H] -> [N, H]);
}

// fix 8: let y = einsum!(x[N, C] * w[C, H] -> [N, H]);
