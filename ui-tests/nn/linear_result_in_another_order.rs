//! A layer's result, annotated with the sequence behind the hidden dim.
use nomina::prelude::*;
use nomina_nn::prelude::*;
dims! { N, Seq, Hidden, Inner }

fn main() {
    let up = Linear::new(Hidden.of(4), Inner.of(8));
    let x: Tensor<(N, Seq, Hidden)> = Tensor::ones([1, 2, 4]);
    let y: Tensor<(N, Inner, Seq)> = up.forward(&x);
    let _ = y;
}
// fix: let y: Tensor<(N, Seq, Inner)> = up.forward(&x);
