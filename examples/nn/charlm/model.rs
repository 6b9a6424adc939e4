//! A small character-level GPT, and its training text.

use nomina::no_grad;
use nomina::prelude::*;
use nomina_nn::layers::Past;
use nomina_nn::prelude::*;

dims! { pub N, pub Seq, pub Char, pub Hidden, pub Head, pub Feature, pub Inner }

/// The keys and values of the characters before, in one block.
pub type Cache = KeyValueCache<(N, Head, Past, Feature)>;

/// The sizes of a model.
#[derive(Clone, Copy)]
pub struct Config {
    pub hidden: usize,
    pub heads: usize,
    pub layers: usize,
}

#[derive(Clone, Module)]
struct Block {
    attention: MultiHeadAttention<Seq, Hidden, Head, Feature>,
    norms: [RmsNorm<Hidden>; 2],
    up: Linear<Hidden, Inner>,
    down: Linear<Inner, Hidden>,
}

impl Block {
    fn new(config: Config) -> Self {
        let (hidden, inner) = (Hidden.of(config.hidden), Inner.of(4 * config.hidden));
        let feature = Feature.of(config.hidden / config.heads);
        Self {
            attention: MultiHeadAttention::new(hidden, Head.of(config.heads), feature),
            norms: [(); 2].map(|()| RmsNorm::new(hidden)),
            up: Linear::new(hidden, inner),
            down: Linear::new(inner, hidden),
        }
    }

    fn forward(
        &self,
        x: &Tensor<(N, Seq, Hidden)>,
        cache: Option<&mut Cache>,
    ) -> Tensor<(N, Seq, Hidden)> {
        let past = Attention {
            causal: true,
            rotary: Some(10_000.0),
            ..default()
        };
        let normed = self.norms[0].forward(x);
        let attended = match cache {
            None => self.attention.forward(&normed, past),
            Some(cache) => self.attention.forward_cached(&normed, cache, past),
        };
        let x = x + attended;
        let inner: Tensor<(N, Seq, Inner)> = self
            .up
            .forward_with(&self.norms[1].forward(&x), Activation::GeluTanh);
        self.down.forward(&inner) + x
    }
}

/// A language model: maps each character and those before it to scores for the next one.
#[derive(Clone, Module)]
pub struct CharLm {
    chars: Embedding<Char, Hidden>,
    blocks: Vec<Block>,
    norm: RmsNorm<Hidden>,
    scores: Linear<Hidden, Char>,
}

impl CharLm {
    pub fn new(alphabet: usize, config: Config) -> Self {
        let hidden = Hidden.of(config.hidden);
        Self {
            chars: Embedding::new(Char.of(alphabet), hidden),
            blocks: (0..config.layers).map(|_| Block::new(config)).collect(),
            norm: RmsNorm::new(hidden),
            scores: Linear::new(hidden, Char.of(alphabet)),
        }
    }

    pub fn forward(&self, ids: &Tensor<(N, Seq), i64>) -> Tensor<(N, Seq, Char)> {
        let first = self.chars.forward(ids);
        let blocks = self.blocks.iter();
        let last = blocks.fold(first, |x, block| block.forward(&x, None));
        self.scores.forward(&self.norm.forward(&last))
    }

    /// Creates empty caches for characters and up to `len` others before each.
    pub fn caches(&self, len: usize) -> Vec<Cache> {
        vec![Cache::with_limit(len); self.blocks.len()]
    }

    /// Returns the scores of the character after `ids`, which follow those in the caches.
    pub fn next(&self, ids: &Tensor<(N, Seq), i64>, caches: &mut [Cache]) -> Tensor<(N, Char)> {
        let first = self.chars.forward(ids);
        let blocks = self.blocks.iter().zip(caches);
        let last = blocks.fold(first, |x, (block, cache)| block.forward(&x, Some(cache)));
        self.scores
            .forward(&self.norm.forward(&last.select(Seq, -1)))
    }

    /// Returns the mean cross entropy of the next characters, in nats.
    pub fn loss(&self, (ids, next): &Pair) -> Tensor<()> {
        self.forward(ids).cross_entropy(next, Char)
    }
}

/// Characters, and the next character of each.
pub type Pair = (Tensor<(N, Seq), i64>, Tensor<(N, Seq), i64>);

fn windows(from: &[i64], starts: &[usize], len: usize) -> Result<Tensor<(N, Seq), i64>> {
    let ids = starts
        .iter()
        .flat_map(|&start| &from[start..][..=len])
        .copied();
    Tensor::from_vec(ids.collect(), [starts.len(), len + 1])
}

fn pair(windows: &Result<Tensor<(N, Seq), i64>>) -> Pair {
    let windows = windows.as_ref().expect("rows of one length");
    let len = windows.size(Seq) - 1;
    (windows.narrow(Seq, ..len), windows.narrow(Seq, 1..))
}

/// A text as indices into its alphabet, divided into a training set and a held-out set.
pub struct Text {
    pub alphabet: Vec<char>,
    train: Vec<i64>,
    held_out: Vec<i64>,
}

impl Text {
    /// Encodes a text; every tenth page is held out.
    pub fn new(text: &str, page: usize) -> Self {
        let mut alphabet: Vec<char> = text.chars().collect();
        alphabet.sort_unstable();
        alphabet.dedup();
        let (mut train, mut held_out) = (Vec::new(), Vec::new());
        for (at, char) in text.chars().enumerate() {
            let id = alphabet
                .binary_search(&char)
                .expect("a character of the text") as i64;
            if (at / page) % 10 == 9 {
                &mut held_out
            } else {
                &mut train
            }
            .push(id);
        }
        Self {
            alphabet,
            train,
            held_out,
        }
    }

    /// Returns random start positions of training windows. They depend on the step alone.
    pub fn starts(&self, count: usize, len: usize, step: u64) -> Vec<usize> {
        let mut generator = Generator::new(step);
        let last = (self.train.len() - len - 1) as i64;
        let options = Tensor::<(N,)>::options()
            .dtype::<i64>()
            .generator(&mut generator);
        let starts = options.randint(0..last, [count]).to_vec();
        starts.into_iter().map(|start| start as usize).collect()
    }

    /// Returns start positions of held-out windows.
    pub fn held_out_starts(&self, len: usize) -> Vec<usize> {
        (0..self.held_out.len() - len - 1)
            .step_by(self.held_out.len() / 32)
            .collect()
    }

    /// Returns training windows of `len + 1` characters: the last one is the next character of the
    /// one before.
    pub fn windows(&self, starts: &[usize], len: usize) -> Result<Tensor<(N, Seq), i64>> {
        windows(&self.train, starts, len)
    }

    /// Like [`windows`](Self::windows), but of held-out pages.
    pub fn held_out_windows(&self, starts: &[usize], len: usize) -> Result<Tensor<(N, Seq), i64>> {
        windows(&self.held_out, starts, len)
    }

    /// Returns the training batch of a step: windows, and the next character at each position.
    pub fn batch(&self, count: usize, len: usize, step: u64) -> Pair {
        pair(&self.windows(&self.starts(count, len, step), len))
    }

    /// Returns the mean loss on held-out pages.
    pub fn held_out(&self, model: &CharLm, len: usize) -> f32 {
        let windows = self.held_out_windows(&self.held_out_starts(len), len);
        no_grad(|| model.loss(&pair(&windows)).item())
    }

    /// Continues the text `start` by `count` sampled characters.
    pub fn sample(&self, model: &CharLm, start: &str, count: usize, len: usize) -> String {
        let mut ids: Vec<i64> = start
            .chars()
            .filter_map(|c| self.alphabet.binary_search(&c).ok())
            .map(|id| id as i64)
            .collect();
        let prompt = Tensor::from_vec(ids.clone(), [1, ids.len()]).expect("one row");
        let mut caches = model.caches(len);
        let sampling = Sampling {
            temperature: 0.8,
            ..default()
        };
        let text = generate(&prompt, Seq, Char, sampling, |seen| {
            model.next(seen, &mut caches)
        });
        ids.extend(text.take(count).map(|id| id.select(N, 0).item()));
        ids.iter().map(|&id| self.alphabet[id as usize]).collect()
    }
}
