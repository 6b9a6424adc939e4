//! A residual connection around a layer that changes the last dim.
use nomina::prelude::*;
use nomina_nn::prelude::*;
dims! { N, Hidden, Inner }

fn main() {
    let up = Linear::new(Hidden.of(4), Inner.of(4));
    let x: Tensor<(N, Hidden)> = Tensor::ones([2, 4]);
    let inner: Tensor<(N, Inner)> = up.forward(&x);
    let y = &x + &inner;
    let _ = y;
}
// fix: let y = &x + inner.rename(Inner, Hidden);
