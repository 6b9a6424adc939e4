use nomina::prelude::*;

dims! { C, H }

#[relations(let Q = Without<P, C>, let P = Without<D, H>)]
fn pool<D>(x: &Tensor<D>) -> Tensor<Q> {
    x.sum(H).sum(C)
}

fn main() {}

// fix 5: #[relations(let P = Without<D, H>, let Q = Without<P, C>)]
