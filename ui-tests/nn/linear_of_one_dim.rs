//! A layer from a dim to itself.
use nomina::prelude::*;
use nomina_nn::prelude::*;
dims! { N, Hidden }

fn main() {
    let layer = Linear::new(Hidden.of(4), Hidden.of(4));
    let x: Tensor<(N, Hidden)> = Tensor::ones([1, 4]);
    let _ = (layer, x);
}
// fix: let layer = Linear::new(Hidden.of(4), Prime(Hidden).of(4));
