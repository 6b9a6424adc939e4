use nomina::prelude::*;

dims! { N, C }

fn pick<I: Element>(x: &Tensor<(N,)>, ids: &Tensor<(C,), I>) {
    let y = x.index_select(N, ids);
}

fn main() {}

// fix 5: fn pick<I: IndexElement>(x: &Tensor<(N,)>, ids: &Tensor<(C,), I>) {
