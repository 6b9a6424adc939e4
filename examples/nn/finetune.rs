//! A transformer with PyTorch's weights learns another task, with groups of parameters.
//!
//! ```sh
//! cargo run --release -p nomina-examples-nn --example finetune
//! ```
//!
//! The weights are of a network that finds the most frequent of three tokens; the new task is which of four tokens comes
//! first. `scripts/programs/finetune.py` is the same program for PyTorch.

use std::error::Error;
use std::path::Path;

use nomina::prelude::*;
use nomina::{CrossEntropyOptions, no_grad, reduction};
use nomina_io::safetensors::SafeTensors;
use nomina_nn::optim::{AdamOptions, is_bias_or_norm, schedule};
use nomina_nn::prelude::*;

dims! { pub N, pub Seq, pub Word, pub Hidden, pub Head, pub Feature, pub Inner, pub Class }

pub(crate) type Ids = Tensor<(N, Seq), i64>;

#[derive(Module)]
pub(crate) struct Net {
    tok: Embedding<Word, Hidden>,
    pos: Param<(Seq, Hidden)>,
    encoder: TransformerEncoder<Seq, Hidden, Head, Feature, Inner>,
    norm: LayerNorm<Hidden>,
    head: Linear<Hidden, Class>,
}

impl Net {
    pub(crate) fn new(classes: usize) -> Self {
        let (hidden, heads, features) = (Hidden.of(16), Head.of(4), Feature.of(4));
        let options = TransformerOptions {
            norm_first: true,
            activation: Activation::Gelu,
            dropout: 0.0,
            ..default()
        };
        Self {
            tok: Embedding::new(Word.of(24), hidden),
            pos: Param::new(Tensor::<(Seq, Hidden)>::randn([16, 16]) * 0.02),
            encoder: TransformerEncoder::new(2, hidden, heads, features, Inner.of(32), options),
            norm: LayerNorm::new(hidden),
            head: Linear::new(hidden, Class.of(classes)),
        }
    }

    /// Classifies sequences of token ids, which end where they are 0.
    pub(crate) fn forward(&self, ids: &Ids) -> Tensor<(N, Class)> {
        let seen = ids.ne(0);
        let x = self.tok.forward(ids) + &self.pos;
        let x = self
            .encoder
            .forward_masked(&x, &seen.prime(Seq), Mode::Train);
        let mean = self.norm.forward(&x).weighted_mean(&seen.float(), Seq);
        self.head.forward(&mean)
    }
}

/// Loads all weights but the head's, which is new.
pub(crate) fn load(state: Vec<(String, DynTensor)>, classes: usize) -> Result<Net> {
    let mut net = Net::new(classes);
    let mut state = nomina_nn::try_from_torch(state)?;
    state.retain(|(path, _)| !path.starts_with("head"));
    for (path, shape) in [
        ("head.weight", &[classes, 16][..]),
        ("head.bias", &[classes]),
    ] {
        state.push((path.to_owned(), DynTensor::zeros(shape, ())?));
    }
    net.try_load(state)?;
    Ok(net)
}

/// Takes steps with batches of 64 in order, and returns losses and norms of gradients.
pub(crate) fn train(
    net: &mut Net,
    ids: &Ids,
    labels: &Tensor<(N,), i64>,
    steps: usize,
) -> Vec<(f32, f64)> {
    // No weight decay of biases and norms; the head learns ten times as fast.
    let options = AdamOptions {
        weight_decay: 0.1,
        ..AdamOptions::adamw()
    };
    let mut optimizer = AdamW::with(options)
        .group(is_bias_or_norm, |options| options.weight_decay = 0.0)
        .group_at("head", |options| options.lr *= 10.0);
    let step = |step| {
        optimizer.options.lr = 4e-3 * schedule::cosine(step as u64, 0, steps as u64);
        let start = step * 64 % ids.size(N);
        let (x, y) = (
            ids.narrow(N, start..start + 64),
            labels.narrow(N, start..start + 64),
        );
        let options = CrossEntropyOptions {
            label_smoothing: 0.05,
            ..default()
        };
        let loss = net
            .forward(&x)
            .cross_entropy_with(&y, Class, reduction::Mean, options);
        loss.backward();
        let norm = clip_grad_norm(net, 1.0);
        optimizer.step(net);
        (loss.item(), norm)
    };
    (0..steps).map(step).collect()
}

/// Returns a file of this program.
pub(crate) fn file(name: &str) -> Result<SafeTensors> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("finetune");
    SafeTensors::open(folder.join(name))
}

/// Returns the sequences and labels to train with, then those that are held out.
pub(crate) fn data() -> Result<[(Ids, Tensor<(N,), i64>); 2]> {
    let data = file("data.safetensors")?;
    let ids = data.refine::<Tensor<(N, Seq), u8>>("ids")?.long();
    let labels = data.refine::<Tensor<(N,), u8>>("labels")?.long();
    Ok([0..1024, 1024..1280].map(|rows| (ids.narrow(N, rows.clone()), labels.narrow(N, rows))))
}

pub(crate) fn accuracy(net: &Net, ids: &Ids, labels: &Tensor<(N,), i64>) -> f32 {
    let found = no_grad(|| net.forward(ids).argmax(Class));
    found.eq(labels).float().mean(..).item()
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut net = load(file("pretrained.safetensors")?.tensors()?, 4)?;
    let [(ids, labels), (held_out, wanted)] = data()?;
    let steps = train(&mut net, &ids, &labels, 160);
    for (step, (loss, norm)) in steps.iter().enumerate().step_by(20) {
        println!("step {step:3}: loss {loss:.4}, gradient {norm:.3}");
    }
    let right = 100.0 * accuracy(&net, &held_out, &wanted);
    println!("{right:.1} % of the other sequences are classified correctly");
    Ok(())
}
