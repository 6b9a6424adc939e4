use nomina::prelude::*;

dims! { C }

#[relations(let D = Without<E, C>)]
fn pool<D, E>(x: &Tensor<E>) -> Tensor<D> {
    x.sum(C)
}

fn main() {}

// fix 5: #[relations]
// fix 6: fn pool<E>(x: &Tensor<E>) -> Tensor<Without<E, C>> {
