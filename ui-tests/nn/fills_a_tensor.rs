//! A tensor where an initializer fills a parameter.
use nomina::prelude::*;
use nomina_nn::{init, prelude::*};
dims! { In, Out }

fn main() {
    let mut layer = Linear::new(In.of(3), Out.of(2));
    init::constant_(&mut layer.weight.detach(), 0.5);
    let _ = layer;
}
// fix: init::constant_(&mut layer.weight, 0.5);
