//! all-MiniLM-L6-v2, a sentence encoder of six layers, with its published weights.
//!
//! ```sh
//! scripts/minilm.py model                                     # downloads the model to the folder `model`
//! cargo run --release -p nomina-examples-minilm --example minilm -- model "A cat." "A dog." "Rain."
//! cargo run --release -p nomina-examples-minilm --example minilm -- model --json < sentences.txt
//! ```
//!
//! prints the cosines of all pairs of sentences, or their embeddings as JSON. Sentences are arguments, or lines of
//! standard input; without arguments on a terminal, six examples are shown. `--bench` measures the time.

#[path = "arguments.rs"]
mod arguments;
#[path = "model.rs"]
mod model;

use std::collections::HashMap;
use std::error::Error;
use std::io::IsTerminal;
use std::path::Path;
use std::time::{Duration, Instant};

use arguments::{Arguments, Output};
use model::{Encoder, Hidden, MINILM, N, Seq};
use nomina::prelude::*;
use nomina::{no_grad, try_cat};
use nomina_io::safetensors::SafeTensors;
use nomina_nn::prelude::*;
use tokenizers::{PaddingParams, Tokenizer, TruncationParams};

/// The number of sentences that are encoded at once.
const BATCH: usize = 32;

const USAGE: &str = "usage: minilm MODEL_DIR [--json] [SENTENCE]..., or minilm MODEL_DIR --bench
Without sentences, they are read from standard input, one per line; if that is a terminal, six examples are shown.
scripts/minilm.py MODEL_DIR downloads the model.";

type Failure = Box<dyn Error + Send + Sync>;

/// Opens the model with memory-mapped weights: pages are read only when they are used.
fn open(folder: &Path) -> Result<Encoder, Failure> {
    let file = SafeTensors::open(folder.join("model.safetensors"))?;
    let mut model = Encoder::unset(MINILM);
    model.try_load(model.state_in(&file)?)?;
    model.freeze();
    Ok(model)
}

/// Returns token ids and masks, padded to the longest sentence.
fn tokens(
    tokenizer: &Tokenizer,
    sentences: &[String],
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

/// Opens the tokenizer, which pads sentences to the longest, and cuts them to the length that the model has positions
/// for.
fn open_tokenizer(folder: &Path) -> Result<Tokenizer, Failure> {
    let mut tokenizer = Tokenizer::from_file(folder.join("tokenizer.json"))?;
    tokenizer.with_padding(Some(PaddingParams::default()));
    if tokenizer.get_truncation().is_none() {
        tokenizer.with_truncation(Some(TruncationParams {
            max_length: MINILM.positions,
            ..TruncationParams::default()
        }))?;
    }
    Ok(tokenizer)
}

/// Returns the embeddings of sentences.
fn embed(
    model: &Encoder,
    tokenizer: &Tokenizer,
    sentences: &[String],
) -> Result<Tensor<(N, Hidden)>, Failure> {
    let mut parts = Vec::new();
    for batch in sentences.chunks(BATCH) {
        let (ids, mask) = tokens(tokenizer, batch)?;
        parts.push(no_grad(|| model.embed(&ids, &mask)));
    }
    Ok(try_cat(&parts, N)?)
}

fn main() -> Result<(), Failure> {
    let arguments = Arguments::parse(std::env::args().skip(1)).unwrap_or_else(|error| {
        eprintln!("{error}\n{USAGE}");
        std::process::exit(2);
    });
    let (folder, output) = (arguments.model_dir.clone(), arguments.output);
    let start = Instant::now();
    let model = open(&folder)?;
    let loaded = start.elapsed();
    if output == Output::Times {
        println!("opened in {loaded:?}");
        return bench(&model);
    }
    let input = std::io::stdin();
    let sentences = arguments.sentences(input.lock(), input.is_terminal())?;
    let embeddings = embed(&model, &open_tokenizer(&folder)?, &sentences)?;
    if output == Output::Json {
        let rows: Vec<Vec<f32>> = embeddings.iter_dim(N).map(|row| row.to_vec()).collect();
        let written = HashMap::from([("embeddings", rows)]);
        println!("{}", serde_json::to_string(&written)?);
        return Ok(());
    }
    println!("{} parameters, opened in {loaded:?}", model.count());
    println!("embeddings: {embeddings:?}\n{embeddings}\n");
    let similar: Tensor<(N, Prime<N>)> = embeddings.contract(&embeddings.prime(N), Hidden);
    for (row, sentence) in similar.iter_dim(N).zip(&sentences) {
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
