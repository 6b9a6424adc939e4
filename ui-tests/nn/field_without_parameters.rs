//! A number in a module.
use nomina::prelude::*;
use nomina_nn::prelude::*;
dims! { In, Out }

#[derive(Module)]
struct Model {
    layer: Linear<In, Out>,
    rate: f32,
}

fn main() {
    let model = Model { layer: Linear::new(In.of(2), Out.of(3)), rate: 0.5 };
    let _ = (model.count(), model.rate);
}
// fix: #[module(skip)] rate: f32,
