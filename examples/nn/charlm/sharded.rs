//! The small GPT on a mesh: the batch is split over axis `Data`, heads and inner features over axis `Model`.
//!
//! Along `Model`, every rank holds a full copy of the activations between blocks and computes the same on it: they are
//! `Synced`. A block converts them to `Whole`, computes its own heads and inner features, and sums the partial results
//! of all ranks. In the backward pass, `whole` becomes the sum, and `sync` needs no communication.

use nomina::prelude::*;
use nomina::{AttentionOptions, GeluOptions, no_grad};
use nomina_mesh::optim::{AdamOptions, AdamW, Param};
use nomina_mesh::prelude::{Mesh, Pending, Sharded, Split, Synced, Whole, across, mesh};
use nomina_mesh::{Plan, cat};
use nomina_nn::{Module, init};

use super::model::{Char, CharLm, Config, Feature, Head, Hidden, Inner, N, Seq, Text};

mesh! { pub Grid: Data, Model }

/// The activations between blocks.
type Rows<D, T = f32> = Sharded<D, Grid<Split<N>, Synced>, T>;
/// Activations split over the ranks of `Model`.
type Parts<D, X> = Sharded<D, Grid<Split<N>, Split<X>>>;
/// A parameter that all ranks hold in full, and one that is split over `Model`.
type Shared<D> = Sharded<D, Grid<Synced, Synced>>;
type Cut<D, X> = Sharded<D, Grid<Synced, Split<X>>>;

struct Block {
    norms: [Shared<(Hidden,)>; 2],
    /// Queries, keys and values.
    heads: [(
        Cut<(Head, Feature, Hidden), Head>,
        Cut<(Head, Feature), Head>,
    ); 3],
    out: (Cut<(Hidden, Head, Feature), Head>, Shared<(Hidden,)>),
    up: (Cut<(Inner, Hidden), Inner>, Cut<(Inner,), Inner>),
    down: (Cut<(Hidden, Inner), Inner>, Shared<(Hidden,)>),
}

/// A sharded language model: maps each character and those before it to scores for the next one.
pub struct ShardedLm {
    chars: Shared<(Char, Hidden)>,
    blocks: Vec<Block>,
    norm: Shared<(Hidden,)>,
    scores: (Shared<(Char, Hidden)>, Shared<(Char,)>),
}

fn normed(x: &Rows<(N, Seq, Hidden)>, weight: &Shared<(Hidden,)>) -> Rows<(N, Seq, Hidden)> {
    x.rms_norm(Hidden, f64::from(f32::EPSILON)) * weight.whole(Data)
}

/// Applies rotary position embeddings: rotates pairs of features, one from each half, by angles that grow along the
/// sequence.
fn rotated(x: &Parts<(N, Head, Seq, Feature), Head>) -> Parts<(N, Head, Seq, Feature), Head> {
    let (len, half) = (x.size(Seq), x.size(Feature) / 2);
    let angles = (0..len).flat_map(|position| {
        let turn = move |pair| position as f64 * 10_000_f64.powf(-(pair as f64) / half as f64);
        (0..half).map(turn)
    });
    let angles: Tensor<(Seq, Feature), f64> =
        Tensor::from_vec(angles.collect(), [len, half]).expect("an angle for each pair");
    let here = |table: Tensor<(Seq, Feature), f64>| x.mesh().whole(table.to::<f32>());
    let (cos, sin) = (here(angles.cos()), here(angles.sin()));
    let (first, second) = (x.narrow(Feature, ..half), x.narrow(Feature, half..));
    let turned = [
        &first * &cos - &second * &sin,
        &second * &cos + &first * &sin,
    ];
    cat(&[&turned[0], &turned[1]], Feature)
}

impl Block {
    fn attend(&self, x: &Rows<(N, Seq, Hidden)>) -> Rows<(N, Seq, Hidden)> {
        let x: Sharded<(N, Seq, Hidden), Grid<Split<N>, Whole>> = x.whole(Model);
        let [q, k, v] = self.heads.each_ref().map(|(weight, bias)| {
            let all: Parts<(N, Seq, Head, Feature), Head> =
                x.contract(&weight.whole(Data), Hidden) + bias.whole(Data);
            all.transpose(Seq, Head)
        });
        let options = AttentionOptions {
            is_causal: true,
            ..default()
        };
        let mixed: Parts<(N, Head, Seq, Feature), Head> =
            rotated(&q).scaled_dot_product_attention_with(&rotated(&k), &v, options);
        let (weight, bias) = &self.out;
        let sum: Sharded<(N, Seq, Hidden), Grid<Split<N>, Pending>> =
            mixed.contract(&weight.whole(Data), across((Head, Feature)));
        sum.sync(Model) + bias.whole(Data)
    }

    fn inner(&self, x: &Rows<(N, Seq, Hidden)>) -> Rows<(N, Seq, Hidden)> {
        let (weight, bias) = &self.up;
        let inner: Parts<(N, Seq, Inner), Inner> =
            x.whole(Model).contract(&weight.whole(Data), Hidden) + bias.whole(Data);
        let inner = inner.gelu_with(GeluOptions {
            approximate: nomina::Approximate::Tanh,
        });
        let (weight, bias) = &self.down;
        let sum: Sharded<(N, Seq, Hidden), Grid<Split<N>, Pending>> =
            inner.contract(&weight.whole(Data), across(Inner));
        sum.sync(Model) + bias.whole(Data)
    }

    fn forward(&self, x: &Rows<(N, Seq, Hidden)>) -> Rows<(N, Seq, Hidden)> {
        let x = x + self.attend(&normed(x, &self.norms[0]));
        self.inner(&normed(&x, &self.norms[1])) + x
    }

    fn params(&mut self) -> Vec<&mut dyn Param<Data>> {
        let mut all: Vec<&mut dyn Param<Data>> = Vec::new();
        for norm in &mut self.norms {
            all.push(norm);
        }
        for (weight, bias) in &mut self.heads {
            all.push(weight);
            all.push(bias);
        }
        all.push(&mut self.out.0);
        all.push(&mut self.out.1);
        all.push(&mut self.up.0);
        all.push(&mut self.up.1);
        all.push(&mut self.down.0);
        all.push(&mut self.down.1);
        all
    }
}

impl ShardedLm {
    /// Shards a model that is equal on all ranks: each rank keeps its parts.
    pub fn new(mesh: &Mesh<Grid>, model: &CharLm) -> Result<Self> {
        let state = model.state();
        let of = |path: &str| {
            let found = state.iter().find(|(name, _)| name == path);
            found.map_or_else(
                || panic!("the model has no {path}"),
                |(_, tensor)| tensor.clone(),
            )
        };
        macro_rules! all {
            ($($path:tt)*) => { mesh.parameter(of(&format!($($path)*)).try_into()?)? };
        }
        macro_rules! cut {
            ($dim:ident, $($path:tt)*) => {
                mesh.parameter(of(&format!($($path)*)).try_into()?)?
                    .detach()
                    .cut(Model, $dim)
                    .with_grad()
            };
        }
        let count = state
            .iter()
            .filter(|(path, _)| path.ends_with(".up.weight"))
            .count();
        let block = |at: usize| -> Result<Block> {
            let path = format!("blocks.{at}");
            let head = |kind: &str| {
                let path = format!("{path}.attention.{kind}");
                let weight = cut!(Head, "{path}.weight");
                Result::Ok((weight, cut!(Head, "{path}.bias")))
            };
            Ok(Block {
                norms: [all!("{path}.norms.0.weight"), all!("{path}.norms.1.weight")],
                heads: [head("query")?, head("key")?, head("value")?],
                out: (
                    cut!(Head, "{path}.attention.out.weight"),
                    all!("{path}.attention.out.bias"),
                ),
                up: (
                    cut!(Inner, "{path}.up.weight"),
                    cut!(Inner, "{path}.up.bias"),
                ),
                down: (cut!(Inner, "{path}.down.weight"), all!("{path}.down.bias")),
            })
        };
        Ok(Self {
            chars: all!("chars.weight"),
            blocks: (0..count).map(block).collect::<Result<_>>()?,
            norm: all!("norm.weight"),
            scores: (all!("scores.weight"), all!("scores.bias")),
        })
    }

    fn forward(&self, ids: &Rows<(N, Seq), i64>) -> Rows<(N, Seq, Char)> {
        let first: Rows<(N, Seq, Hidden)> = self.chars.whole(Data).embedding(Char, ids);
        let last = self.blocks.iter().fold(first, |x, block| block.forward(&x));
        let (weight, bias) = &self.scores;
        let scores: Rows<(N, Seq, Char)> =
            normed(&last, &self.norm).contract(&weight.whole(Data), Hidden);
        scores + bias.whole(Data)
    }

    /// Returns the mean cross entropy of the next characters, in nats. The result is pending, since each rank of `Data`
    /// has different rows.
    fn loss(&self, windows: &Rows<(N, Seq), i64>) -> Sharded<(), Grid<Pending, Synced>> {
        let len = windows.size(Seq) - 1;
        let (ids, next) = (windows.narrow(Seq, ..len), windows.narrow(Seq, 1..));
        self.forward(&ids).cross_entropy(&next, Char)
    }

    fn params(&mut self) -> Vec<&mut dyn Param<Data>> {
        let mut all: Vec<&mut dyn Param<Data>> = vec![&mut self.chars, &mut self.norm];
        all.push(&mut self.scores.0);
        all.push(&mut self.scores.1);
        for block in &mut self.blocks {
            all.extend(block.params());
        }
        all
    }
}

/// The options of a training run.
#[derive(Clone, Copy)]
pub struct Run {
    pub config: Config,
    pub count: usize,
    pub len: usize,
    pub steps: u64,
    pub options: AdamOptions,
}

/// The run of the example programs, which override the number of steps.
pub const RUN: Run = Run {
    config: Config {
        hidden: 64,
        heads: 4,
        layers: 2,
    },
    count: 16,
    len: 64,
    steps: 60,
    options: AdamOptions {
        lr: 3e-3,
        ..AdamOptions::adamw()
    },
};

/// Creates the initial model, which is equal on every rank and independent of the mesh.
pub fn first(text: &Text, config: Config) -> CharLm {
    let make = || CharLm::new(text.alphabet.len(), config);
    init::with_generator(&mut Generator::new(1), make)
}

/// Trains from a fixed seed, each rank with its rows of each batch. Returns the loss on held-out pages before and
/// after.
pub fn train(mesh: &Mesh<Grid>, text: &Text, run: Run) -> Result<[f32; 2]> {
    let mut model = ShardedLm::new(mesh, &first(text, run.config))?;
    let held_out = |model: &ShardedLm| -> Result<f32> {
        let starts = text.held_out_starts(run.len);
        let windows = mesh.load(N.of(starts.len()), |rows| {
            text.held_out_windows(&starts[rows], run.len)
        })?;
        no_grad(|| model.loss(&windows).all_reduce(Data).try_item())
    };
    let before = held_out(&model)?;
    let mut optimizer = AdamW::with(Data, run.options);
    for step in 0..run.steps {
        let starts = text.starts(run.count, run.len, step);
        let windows = mesh.load(N.of(run.count), |rows| text.windows(&starts[rows], run.len))?;
        model.loss(&windows).try_backward()?;
        optimizer.try_step(&mut model.params())?;
    }
    Ok([before, held_out(&model)?])
}

/// Plans the communication of a step, with a batch of `run.count` rows over all ranks.
pub fn plan(mesh: &Mesh<Grid>, text: &Text, run: Run) -> Result<Plan> {
    let mut model = ShardedLm::new(mesh, &first(text, run.config))?;
    let starts = text.starts(run.count, run.len, 0);
    let windows = mesh.load(N.of(run.count), |rows| text.windows(&starts[rows], run.len))?;
    let mut optimizer = AdamW::with(Data, run.options);
    mesh.plan(|| {
        model.loss(&windows).try_backward()?;
        optimizer.try_step(&mut model.params())
    })
}
