use nomina::prelude::*;

dims! { C, H }

#[relations(let P: Has<H> = Without<D, C>)]
fn pool<D>(x: &Tensor<D>) -> Tensor<P> {
    x.sum(C).softmax(H)
}

fn main() {}

// fix 5: #[relations(let P = Without<D, C>, P: Has<H>)]
