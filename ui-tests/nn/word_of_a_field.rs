//! A word that no field of a module takes.
use nomina::prelude::*;
use nomina_nn::prelude::*;
dims! { In, Out }

#[derive(Module)]
struct Model {
    layer: Linear<In, Out>,
    #[module(ignore)]
    rate: f32,
}

fn main() {
    let model = Model { layer: Linear::new(In.of(2), Out.of(3)), rate: 0.5 };
    let _ = model.rate;
}
// fix: #[module(skip)]
