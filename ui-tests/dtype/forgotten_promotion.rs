use nomina::prelude::*;

dims! { N }

fn add<T: Element, U: Element>(x: &Tensor<(N,), T>, y: &Tensor<(N,), U>) {
    let z = x + y;
}

fn main() {}

// fix 1: use nomina::{Promote, prelude::*};
// fix 5: fn add<T: Promote<U>, U: Element>(x: &Tensor<(N,), T>, y: &Tensor<(N,), U>) {
