use nomina::prelude::*;

dims! { N }

fn average<T: Inexact>(x: &Tensor<(N,), T>) -> Tensor<(), T> {
    x.mean(N)
}

fn main() {
    let x = tensor!([1, 2]; N);
    let y = average(&x);
}

// fix: let y = average(&x.to::<f32>());
