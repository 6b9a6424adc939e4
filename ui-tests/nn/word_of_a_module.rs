//! A word of a field, on the type.
use nomina::prelude::*;
use nomina_nn::prelude::*;
dims! { In, Out }

#[derive(Module)]
#[module(skip)]
struct Model {
    layer: Linear<In, Out>,
}

fn main() {
    let model = Model { layer: Linear::new(In.of(2), Out.of(3)) };
    let _ = model.count();
}
// fix: #[module(crate = nomina_nn)]
