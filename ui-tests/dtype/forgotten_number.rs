use nomina::prelude::*;

dims! { N }

fn scale<T: Element>(x: &Tensor<(N,), T>) {
    let z = x * 2.0;
}

fn main() {}

// fix 5: fn scale<T: Float>(x: &Tensor<(N,), T>) {
