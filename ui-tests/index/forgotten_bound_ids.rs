use nomina::prelude::*;

dims! { N }

fn pick<D: Dims + Has<N>, E: Dims>(x: &Tensor<D>, ids: &Tensor<E, i64>) {
    let y = x.index_select(N, ids);
}

fn main() {}

// fix 5: fn pick<D: Dims + Has<N>, E: Dims + IndexOf<D, N>>(x: &Tensor<D>, ids: &Tensor<E, i64>) {
