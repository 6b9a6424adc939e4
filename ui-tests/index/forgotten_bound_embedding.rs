use nomina::prelude::*;

dims! { V }

fn embed<D: Dims + Has<V>, E: Dims>(x: &Tensor<D>, ids: &Tensor<E, i64>) {
    let y = x.embedding(V, ids);
}

fn main() {}

// fix 1: use nomina::{dims::EmbedIn, prelude::*};
// fix 5: fn embed<D: Dims + Has<V>, E: Dims + EmbedIn<D, V>>(x: &Tensor<D>, ids: &Tensor<E, i64>) {
