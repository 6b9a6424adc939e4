use nomina::prelude::*;

dims! { C, H }

#[relations]
fn pool<D>(x: &Tensor<D>) -> Tensor<Without<D, H>> {
    x.softmax(C).sum(H)
}

fn main() {}

// fix 5: #[relations(D: Has<C>)]
