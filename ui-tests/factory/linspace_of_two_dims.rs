use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x: Tensor<(N, C)> = Tensor::linspace(0.0, 1.0, 6);
}

// fix 3: dims! { N, C, K }
// fix 6: let x = Tensor::<(K,)>::linspace(0.0, 1.0, 6).unflatten(K, (N.of(2), C.of(3)));
