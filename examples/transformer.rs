//! A transformer block: causal attention and an MLP, each applied after a norm and added to its
//! input.

use nomina::prelude::*;

dims! {
    /// Sequences of a batch.
    pub Batch,
    /// Positions of a sequence, as queries.
    pub Time,
    /// Positions of the same sequence, as keys and values.
    pub Source,
    /// Features of a position.
    pub Feature,
    /// Attention heads.
    pub Head,
    /// The features that queries and keys are compared by.
    pub Key,
    /// The hidden layer of the MLP.
    pub Hidden,
}

/// The weights of a block.
pub struct Block {
    pub(crate) query: Tensor<(Feature, Head, Key)>,
    pub(crate) key: Tensor<(Feature, Head, Key)>,
    pub(crate) value: Tensor<(Feature, Head, Key)>,
    pub(crate) out: Tensor<(Head, Key, Feature)>,
    pub(crate) up: Tensor<(Feature, Hidden)>,
    pub(crate) up_bias: Tensor<(Hidden,)>,
    pub(crate) down: Tensor<(Hidden, Feature)>,
    pub(crate) down_bias: Tensor<(Feature,)>,
}

impl Block {
    /// Creates a block of four heads with random weights.
    pub fn random(features: usize) -> Self {
        let (key, hidden) = (features / 4, 4 * features);
        Self {
            query: random([features, 4, key]),
            key: random([features, 4, key]),
            value: random([features, 4, key]),
            out: random([4, key, features]),
            up: random([features, hidden]),
            up_bias: Tensor::zeros([hidden]),
            down: random([hidden, features]),
            down_bias: Tensor::zeros([features]),
        }
    }

    /// Applies the block; each position attends to itself and the positions before it.
    pub fn forward(&self, x: &Tensor<(Batch, Time, Feature)>) -> Tensor<(Batch, Time, Feature)> {
        let y = x.layer_norm(Feature);
        let heads = |w| y.contract(w, Feature).align_to((Batch, Head, Time, Key));
        let (keys, values) = (heads(&self.key), heads(&self.value));
        let attended = heads(&self.query).scaled_dot_product_attention_with(
            &keys.rename(Time, Source),
            &values.rename(Time, Source),
            AttentionOptions {
                is_causal: true,
                ..default()
            },
        );
        let x = x + attended.contract(&self.out, (Head, Key));
        let hidden = x.layer_norm(Feature).contract(&self.up, Feature) + &self.up_bias;
        x + hidden.gelu().contract(&self.down, Hidden) + &self.down_bias
    }
}

fn random<D: Dims + Distinct>(shape: impl ShapeFor<D>) -> Tensor<D> {
    Tensor::<D>::randn(shape) * 0.1
}

fn main() {
    manual_seed(1);
    let x = Tensor::<(Batch, Time, Feature)>::randn([2, 8, 16]);
    let y = Block::random(16).forward(&x);
    println!("{} {:?}, mean {}", y.names(), y.shape(), y.mean(..).item());
}
