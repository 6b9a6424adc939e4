//! Transformer layers as plain loops over `f64`.

use nomina_nn::layers::TransformerOptions;
use nomina_nn::prelude::*;

use crate::reference::State;

pub const HIDDEN: usize = 6;
pub const HEADS: usize = 2;

/// Returns the products of a matrix's rows and `x`, plus a bias.
pub fn product(state: &State, layer: &str, x: &[f64]) -> Vec<f64> {
    let weight = &state[&format!("{layer}.weight")];
    let rows = weight
        .chunks(x.len())
        .map(|row| row.iter().zip(x).map(|(w, x)| w * x).sum());
    let mut rows: Vec<f64> = rows.collect();
    if let Some(bias) = state.get(&format!("{layer}.bias")) {
        rows.iter_mut()
            .zip(bias)
            .for_each(|(row, bias)| *row += bias);
    }
    rows
}

pub fn rows(x: &[f64], width: usize) -> Vec<Vec<f64>> {
    x.chunks(width).map(<[f64]>::to_vec).collect()
}

pub type Rows = Vec<Vec<f64>>;

/// Computes attention of the rows of one sequence to those of a memory, where `sees` allows it.
pub fn attention(
    state: &State,
    layer: &str,
    x: &Rows,
    memory: &Rows,
    sees: &dyn Fn(usize, usize) -> bool,
) -> Rows {
    let part = |name: &str, rows: &Rows| -> Rows {
        rows.iter()
            .map(|row| product(state, &format!("{layer}.{name}"), row))
            .collect()
    };
    let (q, k, v) = (part("query", x), part("key", memory), part("value", memory));
    let features = HIDDEN / HEADS;
    let mut mixed = vec![vec![0.0; HIDDEN]; x.len()];
    for head in 0..HEADS {
        let own = head * features..(head + 1) * features;
        for (at, mixed) in mixed.iter_mut().enumerate() {
            let score = |source: usize| -> f64 {
                let (q, k) = (&q[at][own.clone()], &k[source][own.clone()]);
                q.iter().zip(k).map(|(q, k)| q * k).sum::<f64>() / (features as f64).sqrt()
            };
            let sources: Vec<usize> = (0..memory.len())
                .filter(|&source| sees(at, source))
                .collect();
            let scores: Vec<f64> = sources.iter().map(|&source| score(source).exp()).collect();
            let sum: f64 = scores.iter().sum();
            for (&source, score) in sources.iter().zip(&scores) {
                for i in own.clone() {
                    mixed[i] += score / sum * v[source][i];
                }
            }
        }
    }
    mixed
        .iter()
        .map(|row| product(state, &format!("{layer}.out"), row))
        .collect()
}

pub fn norm(state: &State, layer: &str, rows: &Rows) -> Rows {
    let normed = rows.iter().map(|row| {
        let mean = row.iter().sum::<f64>() / row.len() as f64;
        let var = row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / row.len() as f64;
        let weight = &state[&format!("{layer}.weight")];
        let bias = state.get(&format!("{layer}.bias"));
        let each = row.iter().enumerate().map(|(i, x)| {
            (x - mean) / (var + 1e-5).sqrt() * weight[i] + bias.map_or(0.0, |bias| bias[i])
        });
        each.collect()
    });
    normed.collect()
}

pub fn sum(x: &Rows, y: &Rows) -> Rows {
    let rows = x.iter().zip(y);
    rows.map(|(x, y)| x.iter().zip(y).map(|(x, y)| x + y).collect())
        .collect()
}

pub fn activated(activation: Activation, x: f64) -> f64 {
    match activation {
        Activation::Silu => x / (1.0 + (-x).exp()),
        Activation::GeluTanh => {
            let inner = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044_715 * x.powi(3));
            0.5 * x * (1.0 + inner.tanh())
        }
        _ => x.max(0.0),
    }
}

/// The plain form of a layer: of an encoder, or of a decoder if there is a memory.
pub struct Plain<'a> {
    pub options: TransformerOptions,
    /// Whether a query sees a position of its own sequence, and one of the memory.
    pub sees: &'a dyn Fn(usize, usize) -> bool,
    pub sees_memory: &'a dyn Fn(usize, usize) -> bool,
}

impl Plain<'_> {
    fn residual(&self, state: &State, layer: &str, x: &Rows, part: impl Fn(&Rows) -> Rows) -> Rows {
        if self.options.norm_first {
            return sum(x, &part(&norm(state, layer, x)));
        }
        norm(state, layer, &sum(x, &part(x)))
    }

    pub fn layer(&self, state: &State, prefix: &str, x: &Rows, memory: Option<&Rows>) -> Rows {
        let name = |part: &str| format!("{prefix}{part}");
        let causal = self.options.causal;
        let sees = |at: usize, source: usize| (!causal || source <= at) && (self.sees)(at, source);
        let mut x = self.residual(state, &name("norm1"), x, |x| {
            attention(state, &name("self_attn"), x, x, &sees)
        });
        let mut last = "norm2";
        if let Some(memory) = memory {
            x = self.residual(state, &name("norm2"), &x, |x| {
                attention(state, &name("multihead_attn"), x, memory, self.sees_memory)
            });
            last = "norm3";
        }
        self.residual(state, &name(last), &x, |x| {
            let rows = x.iter().map(|row| {
                let inner = product(state, &name("linear1"), row);
                let inner: Vec<f64> = inner
                    .iter()
                    .map(|&x| activated(self.options.activation, x))
                    .collect();
                product(state, &name("linear2"), &inner)
            });
            rows.collect()
        })
    }
}
