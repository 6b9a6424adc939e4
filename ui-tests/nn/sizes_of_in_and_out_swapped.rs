//! The sizes of a layer's input and output, swapped.
use nomina::prelude::*;
use nomina_nn::prelude::*;
dims! { In, Out }

fn main() {
    let layer: Linear<In, Out> = Linear::new(Out.of(2), In.of(3));
    let _ = layer;
}
// fix: let layer: Linear<In, Out> = Linear::new(In.of(3), Out.of(2));
