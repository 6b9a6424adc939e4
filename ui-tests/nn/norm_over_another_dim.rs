//! A norm over a dim that its input lacks.
use nomina::prelude::*;
use nomina_nn::prelude::*;
dims! { N, Seq, Hidden }

fn main() {
    let norm = LayerNorm::new(Seq.of(4));
    let x: Tensor<(N, Hidden)> = Tensor::ones([2, 4]);
    let y = norm.forward(&x);
    let _ = y;
}
// fix: let y = LayerNorm::new(Hidden.of(4)).forward(&x);
