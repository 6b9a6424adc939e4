use nomina::prelude::*;

dims! { C, H }

#[relations(let P = Without<D, C>, let P = Without<D, H>)]
fn pool<D>(x: &Tensor<D>) -> Tensor<P> {
    x.sum(C)
}

fn main() {}

// fix 5: #[relations(let P = Without<D, C>)]
