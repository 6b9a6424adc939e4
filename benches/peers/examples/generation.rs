//! Measures text generation by candle, in tokens a second, with the model of nomina's example `generation` and its options:
//!
//! ```sh
//! cargo run --release --manifest-path benches/peers/Cargo.toml --example generation -- --hidden 512 --layers 8
//! ```
//!
//! The weights are random, which changes no time; tokens are drawn greedily.

use std::time::Instant;

use candle_core::{D, DType, Device, IndexOp, Result, Tensor};
use candle_nn::kv_cache::KvCache;
use candle_nn::{Embedding, Linear, Module, ops, rotary_emb};

/// Characters of the alphabet.
const ALPHABET: usize = 96;

/// The sizes of a model.
#[derive(Clone, Copy)]
struct Config {
    hidden: usize,
    heads: usize,
    layers: usize,
}

fn randn(shape: impl Into<candle_core::Shape>) -> Result<Tensor> {
    Tensor::randn(0_f32, 0.05_f32, shape, &Device::Cpu)
}

fn linear(from: usize, to: usize) -> Result<Linear> {
    Ok(Linear::new(randn((to, from))?, Some(randn(to)?)))
}

struct RmsNorm(Tensor);

impl RmsNorm {
    fn new(hidden: usize) -> Result<Self> {
        Tensor::ones(hidden, DType::F32, &Device::Cpu).map(Self)
    }

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        ops::rms_norm(x, &self.0, 1e-6)
    }
}

/// The cosines and sines of the positions.
struct Positions {
    cos: Tensor,
    sin: Tensor,
}

impl Positions {
    fn new(feature: usize, len: usize) -> Result<Self> {
        let rates = (0..feature / 2).map(|i| 1e4_f32.powf(-2.0 * i as f32 / feature as f32));
        let rates = Tensor::from_iter(rates, &Device::Cpu)?.unsqueeze(0)?;
        let at = Tensor::arange(0, len as u32, &Device::Cpu)?.to_dtype(DType::F32)?;
        let angles = at.unsqueeze(1)?.matmul(&rates)?;
        let (cos, sin) = (angles.cos()?, angles.sin()?);
        Ok(Self { cos, sin })
    }
}

struct Block {
    config: Config,
    projections: [Linear; 4],
    norms: [RmsNorm; 2],
    up: Linear,
    down: Linear,
    cache: KvCache,
}

impl Block {
    fn new(config: Config, len: usize) -> Result<Self> {
        let Config { hidden, .. } = config;
        let square = || linear(hidden, hidden);
        Ok(Self {
            config,
            projections: [square()?, square()?, square()?, square()?],
            norms: [RmsNorm::new(hidden)?, RmsNorm::new(hidden)?],
            up: linear(hidden, 4 * hidden)?,
            down: linear(4 * hidden, hidden)?,
            cache: KvCache::new(2, len),
        })
    }

    fn attended(&mut self, x: &Tensor, positions: &Positions) -> Result<Tensor> {
        let (batch, len, hidden) = x.dims3()?;
        let heads = self.config.heads;
        let feature = hidden / heads;
        let past = self.cache.current_seq_len();
        let split = |x: Tensor| {
            let x = x.reshape((batch, len, heads, feature))?.transpose(1, 2)?;
            x.contiguous()
        };
        let [queries, keys, values, out] = &self.projections;
        let cos = positions.cos.narrow(0, past, len)?;
        let sin = positions.sin.narrow(0, past, len)?;
        let queries = rotary_emb::rope(&split(queries.forward(x)?)?, &cos, &sin)?;
        let keys = rotary_emb::rope(&split(keys.forward(x)?)?, &cos, &sin)?;
        let (keys, values) = self.cache.append(&keys, &split(values.forward(x)?)?)?;
        let scores = (queries.matmul(&keys.t()?)? / (feature as f64).sqrt())?;
        let scores = if len > 1 {
            let mask: Vec<f32> = (0..len)
                .flat_map(|row| (0..past + len).map(move |column| (row, column)))
                .map(|(row, column)| {
                    if column > past + row {
                        f32::NEG_INFINITY
                    } else {
                        0.0
                    }
                })
                .collect();
            scores.broadcast_add(&Tensor::from_vec(mask, (len, past + len), &Device::Cpu)?)?
        } else {
            scores
        };
        let attended = ops::softmax_last_dim(&scores)?.matmul(&values.contiguous()?)?;
        out.forward(&attended.transpose(1, 2)?.reshape((batch, len, hidden))?)
    }

    fn forward(&mut self, x: &Tensor, positions: &Positions) -> Result<Tensor> {
        let x = (x + self.attended(&self.norms[0].forward(x)?, positions)?)?;
        let inner = self.up.forward(&self.norms[1].forward(&x)?)?.gelu()?;
        self.down.forward(&inner)? + x
    }
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().collect();
    let option = |name: &str, default: usize| {
        let at = args.iter().position(|arg| arg == name);
        at.map_or(Ok(default), |at| args.get(at + 1).map_or("", |n| n).parse())
    };
    let config = Config {
        hidden: option("--hidden", 128)?,
        heads: option("--heads", 4)?,
        layers: option("--layers", 3)?,
    };
    let (tokens, batch) = (option("--tokens", 128)?, option("--batch", 1)?);
    let prompt = option("--prompt", 32)?;
    let positions = Positions::new(config.hidden / config.heads, prompt + tokens)?;
    let chars = Embedding::new(randn((ALPHABET, config.hidden))?, config.hidden);
    let blocks = (0..config.layers).map(|_| Block::new(config, prompt + tokens));
    let mut blocks = blocks.collect::<Result<Vec<Block>>>()?;
    let norm = RmsNorm::new(config.hidden)?;
    let scores = linear(config.hidden, ALPHABET)?;
    let ids = (0..batch * prompt).map(|at| (7 * at % ALPHABET) as u32);
    let mut ids = Tensor::from_iter(ids, &Device::Cpu)?.reshape((batch, prompt))?;
    let start = Instant::now();
    for _ in 0..tokens {
        let mut x = chars.forward(&ids)?;
        for block in &mut blocks {
            x = block.forward(&x, &positions)?;
        }
        let last = x.i((.., x.dim(1)? - 1))?.contiguous()?;
        let drawn = scores.forward(&norm.forward(&last)?)?.argmax(D::Minus1)?;
        drawn.to_vec1::<u32>()?;
        ids = drawn.unsqueeze(1)?;
    }
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{:12} {:9.1} tokens a second",
        "candle",
        (tokens * batch) as f64 / seconds
    );
    Ok(())
}
