//! A GPT that `scripts/bench/torch_gpt.py` trains with PyTorch too, from the same weights and texts: its losses, and the
//! characters that a step takes in a second. `NOMINA_GPT` has its sizes; the script for a GPU sets those of 25 million
//! parameters.

use std::time::Instant;

use nomina_nn::autocast;

use super::here::name;
use super::*;

dims! { Char, Place, Head, Feature, Inner }

/// Bytes of a text, and those that follow them.
type Pair = [Tensor<(N, Seq), i64>; 2];

/// Texts are of bytes.
const CHARS: usize = 256;
const TEXT: &[u8] = include_bytes!("../../examples/data/classics.txt");
const LR: f64 = 3e-4;

/// The sizes of the model and of a batch, and the number of steps.
#[derive(Clone, Copy)]
struct Sizes {
    hidden: usize,
    heads: usize,
    layers: usize,
    len: usize,
    batch: usize,
    steps: usize,
}

impl Sizes {
    fn from_env() -> Self {
        let asked = std::env::var("NOMINA_GPT").unwrap_or_else(|_| "16,2,1,12,2,3".to_owned());
        let each = asked.split(',').map(|number| number.parse().unwrap());
        let [hidden, heads, layers, len, batch, steps] =
            each.collect::<Vec<_>>().try_into().expect("six numbers");
        Self {
            hidden,
            heads,
            layers,
            len,
            batch,
            steps,
        }
    }
}

#[derive(Module)]
struct Block {
    norms: [LayerNorm<Hidden>; 2],
    attention: MultiHeadAttention<Seq, Hidden, Head, Feature>,
    up: Linear<Hidden, Inner>,
    down: Linear<Inner, Hidden>,
}

#[derive(Module)]
struct Gpt {
    chars: Embedding<Char, Hidden>,
    places: Embedding<Place, Hidden>,
    blocks: Vec<Block>,
    norm: LayerNorm<Hidden>,
    scores: Linear<Hidden, Char>,
}

/// Mixes the bits of a number, by the finalizer of splitmix64.
fn mixed(number: u64) -> u64 {
    let x = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

impl Gpt {
    /// Creates the model. Its weights are numbers between -0.04 and 0.04 that depend on their place and on the position
    /// of their path among all paths; biases are zero, and factors of norms one.
    fn new(sizes: Sizes) -> Self {
        let (hidden, inner) = (Hidden.of(sizes.hidden), Inner.of(4 * sizes.hidden));
        let feature = Feature.of(sizes.hidden / sizes.heads);
        let block = |_| Block {
            norms: [(); 2].map(|()| LayerNorm::new(hidden)),
            attention: MultiHeadAttention::new(hidden, Head.of(sizes.heads), feature),
            up: Linear::new(hidden, inner),
            down: Linear::new(inner, hidden),
        };
        let mut model = Self {
            chars: Embedding::new(Char.of(CHARS), hidden),
            places: Embedding::new(Place.of(sizes.len), hidden),
            blocks: (0..sizes.layers).map(block).collect(),
            norm: LayerNorm::new(hidden),
            scores: Linear::new(hidden, Char.of(CHARS)),
        };
        let mut state = model.state();
        state.sort_by(|(a, _), (b, _)| a.cmp(b));
        for (which, (path, tensor)) in state.iter_mut().enumerate() {
            let number = |at: usize| {
                let high = mixed(((which as u64) << 32) | at as u64) >> 40;
                ((high as f64 / f64::from(1 << 24) - 0.5) * 0.08) as f32
            };
            let values = match (path.ends_with("bias"), path.contains("norm")) {
                (true, _) => vec![0.0; tensor.numel()],
                (false, true) => vec![1.0; tensor.numel()],
                (false, false) => (0..tensor.numel()).map(number).collect(),
            };
            *tensor = DynTensor::from_vec(values, tensor.shape(), tensor.names()).unwrap();
        }
        model.load(state);
        model
    }

    fn loss(&self, [ids, next]: &Pair) -> Tensor<()> {
        let places = Tensor::<(Seq,)>::options()
            .dtype::<i64>()
            .device(ids.device())
            .arange(0, ids.size(Seq) as i64, 1);
        let x: Tensor<(N, Seq, Hidden)> = self.chars.forward(ids);
        let at: Tensor<(Seq, Hidden)> = self.places.forward(&places);
        let mut x = x + at;
        let causal = Attention {
            causal: true,
            ..default()
        };
        for block in &self.blocks {
            x = block.attention.forward(&block.norms[0].forward(&x), causal) + x;
            let normed = block.norms[1].forward(&x);
            let inner: Tensor<(N, Seq, Inner)> =
                block.up.forward_with(&normed, Activation::GeluTanh);
            x = block.down.forward(&inner) + x;
        }
        let scores: Tensor<(N, Seq, Char)> = self.scores.forward(&self.norm.forward(&x));
        scores.cross_entropy(next, Char)
    }
}

/// Returns the batch of a step.
fn batch(sizes: Sizes, step: usize) -> Pair {
    let starts = (0..sizes.batch).map(|row| {
        let number = mixed((step * sizes.batch + row) as u64) >> 32;
        number as usize % (TEXT.len() - sizes.len - 1)
    });
    let bytes = starts.flat_map(|start| &TEXT[start..][..=sizes.len]);
    let ids = bytes.map(|&byte| i64::from(byte)).collect();
    let ids = Tensor::<(N, Seq), i64>::from_vec(ids, [sizes.batch, sizes.len + 1]).unwrap();
    [ids.narrow(Seq, ..sizes.len), ids.narrow(Seq, 1..)].map(|ids| ids.to_device(DEVICE))
}

/// Trains for all steps, prints the losses, then measures steps that do not wait.
fn train(sizes: Sizes, name: &str, step: impl Fn(&Gpt, &Pair) -> Tensor<()>) {
    let mut model = Gpt::new(sizes);
    model.to_device(DEVICE);
    let mut optimizer = AdamW::new(LR);
    let mut whole = |pair: &Pair| {
        let loss = step(&model, pair);
        loss.backward();
        optimizer.step(&mut model);
        loss
    };
    let losses: Vec<f32> = (0..sizes.steps)
        .map(|step| whole(&batch(sizes, step)).item())
        .collect();
    println!("losses {name} {losses:?}");
    let (first, last) = (losses[0], losses[losses.len() - 1]);
    assert!((first - (CHARS as f32).ln()).abs() < 0.5 && last < first);
    let pair = batch(sizes, 0);
    let speed = |what: &str, step: &mut dyn FnMut()| {
        nomina::cuda::synchronize(0).unwrap();
        let start = Instant::now();
        for _ in 0..sizes.steps {
            step();
        }
        nomina::cuda::synchronize(0).unwrap();
        let tokens = sizes.steps * sizes.batch * sizes.len;
        let rate = tokens as f64 / start.elapsed().as_secs_f64();
        println!("speed {name} {what} {rate:.0} tokens/s");
        here::cases(1);
    };
    speed("step", &mut || drop(whole(&pair)));
    // The factors of the optimizer's step are those of the captured one.
    match nomina::cuda::graph(|| Ok(whole(&pair))) {
        Ok((graph, _)) => speed("graph", &mut || graph.replay().unwrap()),
        Err(error) => println!("no graph of a step: {error}"),
    }
    speed("inference", &mut || {
        drop(nomina::no_grad(|| step(&model, &pair)));
    });
}

#[test]
#[ignore = "run by the test below, and with other sizes by the script for a GPU"]
fn trained() {
    let _here = device!(&[]);
    let sizes = Sizes::from_env();
    train(sizes, "f32", |model, pair| model.loss(pair));
    train(sizes, "bf16", |model, pair| {
        autocast(nomina::DType::BF16, || model.loss(pair))
    });
}

#[test]
fn a_gpt_as_the_script_for_a_gpu_trains_it() {
    if let Some(said) = here::again("gpt::trained", &[]) {
        let lines = said.lines().filter(|line| line.starts_with("speed "));
        assert!(lines.count() >= 4, "{} said {said}", name!());
    }
}
