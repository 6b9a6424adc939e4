//! Heads and features of a projection, swapped.
use nomina::prelude::*;
use nomina_nn::prelude::*;
dims! { Hidden, Head, Feature }

fn main() {
    let layer: Linear<Hidden, (Head, Feature)> = Linear::new(Hidden.of(6), (Feature.of(3), Head.of(2)));
    let _ = layer;
}
// fix: let layer: Linear<Hidden, (Head, Feature)> = Linear::new(Hidden.of(6), (Head.of(2), Feature.of(3)));
