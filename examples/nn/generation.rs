//! Measures text generation, in tokens a second: with caches of keys and values, and without.
//!
//! ```sh
//! cargo run --release -p nomina-examples-nn --example generation                           # the sizes of `charlm`
//! cargo run --release -p nomina-examples-nn --example generation -- --hidden 512 --layers 8 --tokens 256 --batch 4
//! ```
//!
//! The weights are random, which changes no time. Tokens are drawn greedily, so both ways give the same text.

#[path = "charlm/model.rs"]
#[allow(dead_code, reason = "the example trains nothing")]
mod model;

use std::time::Instant;

use model::{Char, CharLm, Config, N, Seq};
use nomina::no_grad;
use nomina::prelude::*;
use nomina_nn::prelude::*;

/// Characters of the alphabet.
const ALPHABET: usize = 96;

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
    manual_seed(1);
    let model = CharLm::new(ALPHABET, config);
    println!(
        "{} parameters; texts: {batch}, of a prompt of {prompt} and {tokens} tokens",
        model.count()
    );
    let ids = (0..batch * prompt).map(|at| (7 * at % ALPHABET) as i64);
    let start: Tensor<(N, Seq), i64> = Tensor::from_vec(ids.collect(), [batch, prompt])?;

    let mut caches = model.caches(prompt + tokens);
    let next = |ids: &Tensor<(N, Seq), i64>| model.next(ids, &mut caches);
    let cached = measured("with caches", tokens, batch, || {
        let all = generate(&start, Seq, Char, Sampling::greedy(), next);
        all.take(tokens).flat_map(|ids| ids.to_vec()).collect()
    });
    let whole = measured("without", tokens, batch, || {
        let mut seen = start.clone();
        let mut all = Vec::new();
        for _ in 0..tokens {
            let scores = no_grad(|| model.forward(&seen)).select(Seq, -1);
            let ids = scores.argmax(Char);
            all.extend(ids.to_vec());
            seen = cat(&[&seen, &ids.align_to((N, Seq))], Seq);
        }
        all
    });
    // Sums are rounded in another order, so a tie may be broken in another way.
    let same = cached.iter().zip(&whole).filter(|(a, b)| a == b).count();
    println!("{same} of {} tokens are the same both ways", whole.len());
    Ok(())
}

/// Prints the tokens a second of all texts.
fn measured(what: &str, tokens: usize, batch: usize, run: impl FnOnce() -> Vec<i64>) -> Vec<i64> {
    let start = Instant::now();
    let all = run();
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{what:12} {:9.1} tokens a second",
        (tokens * batch) as f64 / seconds
    );
    all
}
