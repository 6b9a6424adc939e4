//! A struct's layer, made from its output to its input.
use nomina::prelude::*;
use nomina_nn::prelude::*;
dims! { In, Out }

#[derive(Module)]
struct Model {
    layer: Linear<In, Out>,
}

fn main() {
    let layer = Linear::new(Out.of(3), In.of(2));
    let model = Model { layer };
    let _ = model.count();
}
// fix: let model = Model { layer: Linear::new(In.of(2), Out.of(3)) };
