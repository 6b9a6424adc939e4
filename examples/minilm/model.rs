//! BERT as a sentence encoder, with named dims: nothing is reshaped, since attention heads are dims
//! of the weights.

use nomina::prelude::*;
use nomina_io::safetensors::SafeTensors;
use nomina_nn::{init, prelude::*};

dims! { pub N, pub Seq, pub Hidden, pub Head, pub Feature, pub Inner, pub Word, pub Position, pub Kind }

/// The sizes of a model.
#[derive(Clone, Copy)]
pub struct Config {
    pub words: usize,
    pub positions: usize,
    pub hidden: usize,
    pub heads: usize,
    pub inner: usize,
    pub layers: usize,
}

/// The sizes of all-MiniLM-L6-v2.
pub const MINILM: Config = Config {
    words: 30522,
    positions: 512,
    hidden: 384,
    heads: 12,
    inner: 1536,
    layers: 6,
};

#[derive(Module)]
struct Block {
    attention: MultiHeadAttention<Seq, Hidden, Head, Feature>,
    attention_norm: LayerNorm<Hidden>,
    inner: Linear<Hidden, Inner>,
    outer: Linear<Inner, Hidden>,
    norm: LayerNorm<Hidden>,
}

impl Block {
    fn forward(
        &self,
        x: &Tensor<(N, Seq, Hidden)>,
        mask: &Tensor<(N, Prime<Seq>), bool>,
    ) -> Tensor<(N, Seq, Hidden)> {
        let attended = self.attention.forward_masked(x, mask, Attention::default());
        let x = self.attention_norm.forward(&(attended + x));
        let inner: Tensor<(N, Seq, Inner)> = self.inner.forward_with(&x, Activation::Gelu);
        self.norm.forward(&(self.outer.forward(&inner) + &x))
    }
}

/// An encoder from token ids to sentence embeddings.
#[derive(Module)]
pub struct Encoder {
    words: Embedding<Word, Hidden>,
    positions: Embedding<Position, Hidden>,
    kinds: Embedding<Kind, Hidden>,
    norm: LayerNorm<Hidden>,
    layers: Vec<Block>,
}

impl Encoder {
    /// Creates a model whose weights are still to be loaded.
    pub fn unset(config: Config) -> Self {
        let hidden = || Hidden.of(config.hidden);
        let norm = || LayerNorm {
            eps: 1e-12,
            ..LayerNorm::new(hidden())
        };
        let feature = Feature.of(config.hidden / config.heads);
        let block = |_| Block {
            attention: MultiHeadAttention::new(hidden(), Head.of(config.heads), feature),
            attention_norm: norm(),
            inner: Linear::new(hidden(), Inner.of(config.inner)),
            outer: Linear::new(Inner.of(config.inner), hidden()),
            norm: norm(),
        };
        init::unset(|| Self {
            words: Embedding::new(Word.of(config.words), hidden()),
            positions: Embedding::new(Position.of(config.positions), hidden()),
            kinds: Embedding::new(Kind.of(2), hidden()),
            norm: norm(),
            layers: (0..config.layers).map(block).collect(),
        })
    }

    /// Returns the state of this model in a file of the Python package `transformers`, which may have more tensors.
    pub fn state_in(&self, file: &SafeTensors) -> nomina::Result<Vec<(String, DynTensor)>> {
        let paths = self.paths().into_iter();
        paths
            .map(|path| Ok((path.clone(), file.tensor(&Self::name_in_file(&path))?)))
            .collect()
    }

    /// Returns the name of a parameter in files of the Python package `transformers`.
    fn name_in_file(path: &str) -> String {
        let names = [
            ("words.", "embeddings.word_embeddings."),
            ("positions.", "embeddings.position_embeddings."),
            ("kinds.", "embeddings.token_type_embeddings."),
            ("norm.", "embeddings.LayerNorm."),
            ("layers.", "encoder.layer."),
        ];
        let (own, its) = names
            .iter()
            .find(|(own, _)| path.starts_with(own))
            .expect("a path of the model");
        format!("{its}{}", &path[own.len()..])
            .replace(".attention.out.", ".attention.output.dense.")
            .replace(".attention_norm.", ".attention.output.LayerNorm.")
            .replace(".attention.query.", ".attention.self.query.")
            .replace(".attention.key.", ".attention.self.key.")
            .replace(".attention.value.", ".attention.self.value.")
            .replace(".inner.", ".intermediate.dense.")
            .replace(".outer.", ".output.dense.")
            .replace(".norm.", ".output.LayerNorm.")
            .replace("embeddings.output.LayerNorm.", "embeddings.LayerNorm.")
    }

    /// Returns the hidden states of tokens. The mask is true for tokens and false for padding.
    pub fn hidden(
        &self,
        ids: &Tensor<(N, Seq), i64>,
        mask: &Tensor<(N, Seq), bool>,
    ) -> Tensor<(N, Seq, Hidden)> {
        let places: Tensor<(Seq,), i64> = Tensor::arange(0, ids.size(Seq) as i64, 1);
        let kind: Tensor<(Hidden,)> = self.kinds.weight.select(Kind, 0);
        let embedded = self.words.forward(ids) + (self.positions.forward(&places) + kind);
        let mask = mask.prime(Seq);
        let first = self.norm.forward(&embedded);
        self.layers
            .iter()
            .fold(first, |x, layer| layer.forward(&x, &mask))
    }

    /// Returns a vector of length 1 for each sentence: the normalized mean of its tokens' hidden
    /// states.
    pub fn embed(
        &self,
        ids: &Tensor<(N, Seq), i64>,
        mask: &Tensor<(N, Seq), bool>,
    ) -> Tensor<(N, Hidden)> {
        let hidden = self.hidden(ids, mask);
        let counts: Tensor<(N, Seq)> = mask.to::<f32>();
        let mean = hidden.contract(&counts, Seq);
        mean.normalize(Hidden)
    }
}
