use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x: Tensor<(N, C)> = Tensor::arange(0.0, 6.0, 1.0);
}

// fix 3: dims! { N, C, K }
// fix 6: let x = Tensor::<(K,)>::arange(0.0, 6.0, 1.0).unflatten(K, (N.of(2), C.of(3)));
