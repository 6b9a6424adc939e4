//! Attention along the features instead of the sequence.
use nomina::prelude::*;
use nomina_nn::prelude::*;
dims! { N, Seq, Hidden, Head, Feature }

fn main() {
    let layer: MultiHeadAttention<Seq, Hidden, Head, Feature> =
        MultiHeadAttention::<Hidden, Seq, Head, Feature>::new(Seq.of(4), Head.of(2), Feature.of(2));
    let _ = layer;
}
// fix: MultiHeadAttention::<Seq, Hidden, Head, Feature>::new(Hidden.of(4), Head.of(2), Feature.of(2));
