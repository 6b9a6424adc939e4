use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let y = try_einsum!(x[N; C] -> [N]).unwrap();
    let z: Tensor<()> = y.sum(N);
}

// fix: let y = try_einsum!(x[N, C] -> [N]).unwrap();
