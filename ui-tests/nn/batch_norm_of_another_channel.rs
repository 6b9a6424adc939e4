//! A norm of channels that its input lacks.
use nomina::prelude::*;
use nomina_nn::prelude::*;
dims! { N, C, Out }

fn main() {
    let norm = BatchNorm::new(C.of(4));
    let x: Tensor<(N, Out)> = Tensor::ones([2, 4]);
    let y = norm.forward(&x, Mode::Eval);
    let _ = y;
}
// fix: let y = norm.forward(&x.rename(Out, C), Mode::Eval);
