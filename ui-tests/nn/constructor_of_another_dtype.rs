use nomina::prelude::*;
use nomina_nn::prelude::*;

dims! { In, Out }

fn main() {
    let layer = Linear::<In, Out, f64>::new(In.of(2), Out.of(3));
}

// Constructors create `f32`; `to` converts a layer or a model.
// fix: let layer = Linear::<In, Out>::new(In.of(2), Out.of(3)).to::<f64>();
