//! A layer's size, without its dim.
use nomina::prelude::*;
use nomina_nn::prelude::*;
dims! { In, Out }

fn main() {
    let layer = Linear::<In, Out>::new(2, Out.of(3));
    let _ = layer;
}
// fix: let layer = Linear::<In, Out>::new(In.of(2), Out.of(3));
