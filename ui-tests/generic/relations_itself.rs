use nomina::prelude::*;

dims! { C }

#[relations(let P = Without<P, C>)]
fn pool<D>(x: &Tensor<D>) -> Tensor<P> {
    x.sum(C)
}

fn main() {}

// fix 5: #[relations(let P = Without<D, C>)]
