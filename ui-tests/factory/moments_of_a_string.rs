use nomina::prelude::*;

dims! { N }

fn main() {
    let x = Tensor::<(N,)>::zeros([2]);
    let y: Tensor<(N,)> = Tensor::normal(&x, "1");
}

// fix: let y: Tensor<(N,)> = Tensor::normal(&x, 1.0);
