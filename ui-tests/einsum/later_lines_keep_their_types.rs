use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let y = einsum!(x[N, N, C] -> [N, C]);
    let z: Tensor<(N,)> = y.sum(C);
    let scaled = &z * 2.0;
}

// fix: let y = einsum!(x[N, C] -> [N, C]);
