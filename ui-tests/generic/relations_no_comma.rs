use nomina::prelude::*;

dims! { C, H }

#[relations(let P = Without<D, C>; P: Has<H>)]
fn pool<D>(x: &Tensor<D>) -> Tensor<P> {
    x.sum(C).softmax(H)
}

fn main() {}

// fix 5: #[relations(let P = Without<D, C>, P: Has<H>)]
