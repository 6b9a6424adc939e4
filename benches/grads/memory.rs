//! Peak memory of a model of the size of all-MiniLM-L6-v2: `cargo bench --bench grads -- --memory forward|backward|step`,
//! beside `scripts/bench/torch_grads.py --memory`. The figure is the peak of resident memory above that of the process
//! before the model was created, after three runs: the forward pass alone, with the backward pass, or with AdamW's step.

use std::fs;

use nomina::no_grad;
use nomina::prelude::*;
use nomina_nn::prelude::*;

use crate::networks::{Block, Hidden, N, Seq};

dims! { Word, Position }

/// Sentences, and tokens of each.
const BATCH: [usize; 2] = [16, 128];

#[derive(Module)]
struct Encoder {
    words: Embedding<Word, Hidden>,
    positions: Embedding<Position, Hidden>,
    norm: LayerNorm<Hidden>,
    layers: Vec<Block>,
}

impl Encoder {
    fn new() -> Self {
        let hidden = || Hidden.of(384);
        Self {
            words: Embedding::new(Word.of(30522), hidden()),
            positions: Embedding::new(Position.of(512), hidden()),
            norm: LayerNorm::new(hidden()),
            layers: (0..6).map(|_| Block::new()).collect(),
        }
    }

    fn forward(&self, ids: &Tensor<(N, Seq), i64>) -> Tensor<(N, Hidden)> {
        let places: Tensor<(Seq,), i64> = Tensor::arange(0, ids.size(Seq) as i64, 1);
        let embedded = self.words.forward(ids) + self.positions.forward(&places);
        let first = self.norm.forward(&embedded);
        let hidden = self.layers.iter().fold(first, |x, layer| layer.forward(&x));
        hidden.mean(Seq).normalize(Hidden)
    }
}

/// Returns a figure of `/proc/self/status` in MiB.
fn status(name: &str) -> f64 {
    let text = fs::read_to_string("/proc/self/status").expect("Linux");
    let line = text.lines().find(|line| line.starts_with(name));
    let figure = line.and_then(|line| line.split_whitespace().nth(1));
    figure.expect("a figure").parse::<f64>().expect("KiB") / 1024.0
}

/// Prints the peak of a phase as JSON.
pub fn print_peak(phase: &str) {
    assert!(
        ["forward", "backward", "step"].contains(&phase),
        "`--memory` takes forward, backward or step, not `{phase}`"
    );
    // Threads and tables of the processor's caches exist before the first model.
    drop(Tensor::<(N, Seq)>::randn(BATCH).exp());
    let before = status("VmRSS");
    let mut model = Encoder::new();
    let mut optimizer = AdamW::new(1e-3);
    let ids: Tensor<(N, Seq), i64> = (Tensor::<(N, Seq)>::rand(BATCH) * 30522.0).to::<i64>();
    for _ in 0..3 {
        if phase == "forward" {
            no_grad(|| drop(model.forward(&ids)));
            continue;
        }
        model.forward(&ids).sum(..).backward();
        if phase == "step" {
            optimizer.step(&mut model);
        } else {
            model.zero_grad();
        }
    }
    let peak = status("VmHWM") - before;
    println!("{{\"phase\": \"{phase}\", \"mib\": {peak:.0}}}");
}
