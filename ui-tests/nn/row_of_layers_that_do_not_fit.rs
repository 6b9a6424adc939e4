//! Layers in a row, one of which takes what the one before it does not give.
use nomina::prelude::*;
use nomina_nn::prelude::*;
dims! { N, In, Hidden, Out }

fn main() {
    let model = Sequential((Linear::new(In.of(2), Hidden.of(3)), LayerNorm::new(Out.of(3))));
    let x: Tensor<(N, In)> = Tensor::ones([1, 2]);
    let y = model.forward(&x, Mode::Eval);
    let _ = y;
}
// fix: let y = model.0.0.forward(&x);
