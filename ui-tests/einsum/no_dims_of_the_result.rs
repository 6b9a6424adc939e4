use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let y = einsum!(x[N, C] ->);
}

// fix: let y = einsum!(x[N, C] -> [N]);
