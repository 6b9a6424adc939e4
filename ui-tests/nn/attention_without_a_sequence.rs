//! Attention of what has no sequence.
use nomina::prelude::*;
use nomina_nn::prelude::*;
dims! { N, Seq, Hidden, Head, Feature }

fn main() {
    let layer = MultiHeadAttention::<Seq, Hidden, Head, Feature>::new(Hidden.of(4), Head.of(2), Feature.of(2));
    let x: Tensor<(N, Hidden)> = Tensor::ones([2, 4]);
    let y = layer.forward(&x, Attention::default());
    let _ = y;
}
// fix: let y = layer.forward(&x.unsqueeze(Seq), Attention::default());
