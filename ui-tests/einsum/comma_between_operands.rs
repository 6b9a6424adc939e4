use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let y = einsum!(x[N, C], x[N, C] -> [N]);
    let z = y.sum(N).item() + 1.0;
}

// fix: let y = einsum!(x[N, C] * x[N, C] -> [N]);
