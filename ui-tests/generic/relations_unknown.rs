use nomina::prelude::*;

dims! { C }

#[relations(D has C)]
fn total<D>(x: &Tensor<D>) -> Tensor<Without<D, C>> {
    x.softmax(C).sum(C)
}

fn main() {
    let x = tensor!([1., 2.]; C);
    let _: Tensor<()> = total(&x);
}

// fix 5: #[relations(D: Has<C>)]
