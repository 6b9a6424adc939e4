use nomina::prelude::*;
use nomina_nn::prelude::*;

dims! { In, Out }

fn main() {
    let layer = Linear::new(In.of(2), Out.of(3));
    let layer = layer.to::<i64>();
}

// fix: let layer = layer.to::<f64>();
