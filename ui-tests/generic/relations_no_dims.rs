use nomina::prelude::*;

dims! { C, K }

#[relations(let Q)]
fn scores<D>(x: &Tensor<D>, w: &Tensor<(C, K)>) -> Tensor<Q> {
    x.contract(w, C)
}

fn main() {}

// fix 5: #[relations(let Q = Contracted<D, (C, K), C>)]
