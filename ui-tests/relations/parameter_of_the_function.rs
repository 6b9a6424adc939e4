use nomina::prelude::*;

dims! { C }

#[relations(D: Has<C>, let D = Without<D, C>)]
fn total<D: Dims>(x: &Tensor<D>) -> Tensor<Q> {
    x.sum(C)
}

fn main() {}

// fix 5: #[relations(D: Has<C>, let Q = Without<D, C>)]
