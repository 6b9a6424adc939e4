//! A small GPT, trained on three books for two minutes: `cargo run --release --example charlm [-- --seconds 120]`.
//!
//! Prints the loss on held-out pages, in nats per character, and a generated text. Then it saves the model, loads it
//! again and compares both.

#[path = "charlm/model.rs"]
mod model;

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use model::{CharLm, Config, Text};
use nomina::prelude::*;
use nomina_io::safetensors::{self, SafeTensors};
use nomina_nn::optim::{AdamOptions, schedule};
use nomina_nn::prelude::*;

const CONFIG: Config = Config {
    hidden: 128,
    heads: 4,
    layers: 3,
};
const LEN: usize = 96;
const BATCH: usize = 24;
const FOLDER: &str = "target/charlm";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args()
        .skip_while(|arg| arg != "--seconds")
        .skip(1);
    let seconds: u64 = args.next().map_or(Ok(120), |arg| arg.parse())?;
    let text = Text::new(include_str!("../data/classics.txt"), 4096);
    manual_seed(1);
    let mut model = CharLm::new(text.alphabet.len(), CONFIG);
    println!(
        "{} characters, {} parameters",
        text.alphabet.len(),
        model.count()
    );
    let first = text.held_out(&model, LEN);
    println!("held out, before: {first:.3} nats a character");

    let mut optimizer = AdamW::with(AdamOptions {
        weight_decay: 0.1,
        ..AdamOptions::adamw()
    });
    let style = ProgressStyle::with_template("{bar:30} {elapsed} of {prefix} s: {msg}")?;
    let bar = ProgressBar::new(seconds)
        .with_style(style)
        .with_prefix(seconds.to_string());
    let (start, mut shown) = (Instant::now(), Duration::ZERO);
    let mut step = 0;
    while start.elapsed() < Duration::from_secs(seconds) {
        // The learning rate depends on the elapsed time, since the number of steps is not known in advance.
        let gone = (start.elapsed().as_millis() as u64).min(1000 * seconds);
        optimizer.options.lr = 2e-3 * schedule::cosine(gone, 50 * seconds, 1000 * seconds);
        let loss = model.loss(&text.batch(BATCH, LEN, step));
        loss.backward();
        clip_grad_norm(&model, 1.0);
        optimizer.step(&mut model);
        step += 1;
        if start.elapsed() - shown > Duration::from_secs(seconds) / 12 {
            shown = start.elapsed();
            let held_out = text.held_out(&model, LEN);
            bar.set_position(shown.as_secs());
            bar.set_message(format!(
                "step {step}, loss {:.3}, held out {held_out:.3}",
                loss.item()
            ));
            bar.suspend(|| {
                println!(
                    "{:4} s  step {step:5}  held out {held_out:.3}",
                    shown.as_secs()
                )
            });
        }
    }
    bar.finish_and_clear();
    let last = text.held_out(&model, LEN);
    println!("held out, after {step} steps: {last:.3} nats a character\n");
    let start = Instant::now();
    println!("{}\n", text.sample(&model, "Alice ", 400, LEN));
    let speed = 400.0 / start.elapsed().as_secs_f64();
    println!("{speed:.0} characters a second\n");

    std::fs::create_dir_all(FOLDER)?;
    let path = format!("{FOLDER}/model.safetensors");
    safetensors::save(&path, model.state())?;
    let file = SafeTensors::open(&path)?;
    let mut again = CharLm::new(text.alphabet.len(), CONFIG);
    again.try_load(file.tensors()?)?;
    let same = text.held_out(&again, LEN);
    println!("{path}: loaded again, held out {same:.3}");
    if same.to_bits() != last.to_bits() || last >= first {
        return Err("the loss did not fall, or the file holds another model".into());
    }
    Ok(())
}
