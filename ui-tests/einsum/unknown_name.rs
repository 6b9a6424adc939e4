use nomina::prelude::*;

dims! { T, S, K }

fn main() {
    let q = Tensor::<(T, K)>::zeros([3, 4]).drop_names();
    let k = Tensor::<(S, K)>::zeros([5, 4]);
    let y = einsum!(q[..] * k[S, K] -> [S]);
}

// fix: let y = einsum!(q.refine_names((T, K))[..] * k[S, K] -> [S]);
