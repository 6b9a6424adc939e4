use nomina::prelude::*;

fn total<D: Dims, X: Dim>(x: &Tensor<D>, dim: X) {
    let y = x.cumsum(dim);
}

fn main() {}

// fix 3: fn total<D: Dims + Has<X>, X: Dim>(x: &Tensor<D>, dim: X) {
