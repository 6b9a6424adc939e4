//! all-MiniLM-L6-v2, a sentence encoder of six layers, with its published weights.
//!
//! `cargo run --release --example minilm -- MODEL_DIR [--json] [--bench]`; `scripts/minilm.py DIR` downloads the model.

#[path = "model.rs"]
mod model;

use std::collections::HashMap;
use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

use model::{Encoder, Hidden, MINILM, N, Seq};
use nomina::no_grad;
use nomina::prelude::*;
use nomina_io::safetensors::SafeTensors;
use nomina_nn::prelude::*;
use tokenizers::{PaddingParams, Tokenizer};

const SENTENCES: [&str; 6] = [
    "The cat sits on the mat.",
    "A dog is playing in the park.",
    "Rust checks the names of dimensions at compile time.",
    "Matrix multiplication contracts the inner dimension.",
    "It is raining heavily today.",
    "The weather is very wet.",
];

type Failure = Box<dyn Error + Send + Sync>;

/// Opens the model with memory-mapped weights: pages are read only when they are used.
fn open(folder: &Path) -> Result<Encoder, Failure> {
    let file = SafeTensors::open(folder.join("model.safetensors"))?;
    let mut model = Encoder::unset(MINILM);
    model.try_load(|path| file.tensor(&Encoder::name_in_file(path)))?;
    model.freeze();
    Ok(model)
}

/// Returns token ids and masks, padded to the longest sentence.
fn tokens(
    tokenizer: &Tokenizer,
    sentences: &[&str],
) -> Result<(Tensor<(N, Seq), i64>, Tensor<(N, Seq), bool>), Failure> {
    let all = tokenizer.encode_batch(sentences.to_vec(), true)?;
    let sizes = [all.len(), all.first().map_or(0, |one| one.len())];
    let ids = all
        .iter()
        .flat_map(|one| one.get_ids())
        .map(|&id| i64::from(id));
    let mask = all
        .iter()
        .flat_map(|one| one.get_attention_mask())
        .map(|&one| one == 1);
    Ok((
        Tensor::from_vec(ids.collect(), sizes)?,
        Tensor::from_vec(mask.collect(), sizes)?,
    ))
}

/// Returns the median time of a call.
fn median(mut call: impl FnMut()) -> Duration {
    call();
    let mut times = Vec::new();
    let start = Instant::now();
    while times.len() < 5 || (start.elapsed() < Duration::from_secs(3) && times.len() < 400) {
        let start = Instant::now();
        call();
        times.push(start.elapsed());
    }
    times.sort();
    times[times.len() / 2]
}

fn main() -> Result<(), Failure> {
    let (flags, rest): (Vec<String>, Vec<String>) = std::env::args()
        .skip(1)
        .partition(|arg| arg.starts_with("--"));
    let [folder] = &rest[..] else {
        eprintln!(
            "usage: minilm MODEL_DIR [--json] [--bench]; scripts/minilm.py MODEL_DIR fetches the model"
        );
        std::process::exit(2);
    };
    let folder = Path::new(folder);
    let start = Instant::now();
    let model = open(folder)?;
    let loaded = start.elapsed();
    let mut tokenizer = Tokenizer::from_file(folder.join("tokenizer.json"))?;
    tokenizer.with_padding(Some(PaddingParams::default()));
    if flags.iter().any(|flag| flag == "--bench") {
        println!("opened in {loaded:?}");
        return bench(&model);
    }
    let (ids, mask) = tokens(&tokenizer, &SENTENCES)?;
    let embeddings: Tensor<(N, Hidden)> = no_grad(|| model.embed(&ids, &mask));
    if flags.iter().any(|flag| flag == "--json") {
        let rows: Vec<Vec<f32>> = (0..embeddings.size(N))
            .map(|at| embeddings.select(N, at as i64).to_vec())
            .collect();
        let written = HashMap::from([("embeddings", rows)]);
        println!("{}", serde_json::to_string(&written)?);
        return Ok(());
    }
    println!("{} parameters, opened in {loaded:?}", model.count());
    println!("embeddings: {embeddings:?}\n{embeddings}\n");
    let similar: Tensor<(N, Prime<N>)> = embeddings.contract(&embeddings.prime(N), Hidden);
    for (at, sentence) in SENTENCES.iter().enumerate() {
        let row = similar.select(N, at as i64).to_vec();
        let row: Vec<String> = row.iter().map(|cosine| format!("{cosine:5.2}")).collect();
        println!("{}  {sentence}", row.join(" "));
    }
    Ok(())
}

/// Measures sentences of 122 tokens in batches of 16, and one sentence of 9 tokens.
fn bench(model: &Encoder) -> Result<(), Failure> {
    for sizes in [[16, 122], [1, 9]] {
        let ids: Tensor<(N, Seq), i64> = Tensor::from_fn(sizes, |at: &[usize]| {
            (1000 + 37 * at[1] + 101 * at[0]) as i64
        });
        let mask = Tensor::<(N, Seq)>::ones(sizes).to::<bool>();
        let time = no_grad(|| median(|| drop(model.embed(&ids, &mask))));
        println!(
            "{}x{} tokens: {:.3} ms",
            sizes[0],
            sizes[1],
            time.as_secs_f64() * 1e3
        );
    }
    Ok(())
}
