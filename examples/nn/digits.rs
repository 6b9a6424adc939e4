//! Handwritten digits, classified by an MLP and by a small convolutional network.
//!
//! ```sh
//! cargo run --release --example digits                 # trains both, a minute at most on two cores
//! cargo run --release --example digits -- --resume     # goes on where the last run was cut off
//! cargo run --release --example digits -- --out dir    # another folder for checkpoints and pictures
//! ```
//!
//! A fifth of the pictures is held out, and the program fails if too few of those are classified correctly.

#[path = "digits/data.rs"]
pub(crate) mod data;
#[path = "digits/pictures.rs"]
pub(crate) mod pictures;
#[path = "digits/training.rs"]
pub(crate) mod training;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use nomina::prelude::*;
use nomina::{no_grad, reduction};
use nomina_nn::metrics::{Confusion, Mean};
use nomina_nn::prelude::*;
use nomina_nn::progress::Progress;

use data::Digits;
use training::{Plan, Training};

dims! {
    /// Pictures.
    pub N,
    /// Rows of a picture, from the top.
    pub H,
    /// Columns of a picture, from the left.
    pub W,
    /// The only channel of a picture: how dark each pixel is.
    pub Gray = 1,
    /// Channels after the first convolution.
    pub Stroke,
    /// Channels after the second convolution.
    pub Shape,
    /// The hidden layer of the MLP.
    pub Hidden,
    /// Digits.
    pub Class = 10,
}

const SEED: u64 = 7;

const USAGE: &str = "digits [--resume] [--out FOLDER]";

/// A network that computes a score for each digit.
pub(crate) trait Classifier: Module + Sized {
    fn new() -> Self;
    fn forward(&self, x: &Tensor<(N, H, W)>, mode: Mode) -> Tensor<(N, Class)>;
}

/// Two linear layers. The first contracts rows and columns directly, so nothing is flattened.
#[derive(Module)]
pub(crate) struct Mlp {
    hidden: Linear<(H, W), Hidden>,
    dropout: Dropout,
    out: Linear<Hidden, Class>,
}

impl Classifier for Mlp {
    fn new() -> Self {
        let hidden = Hidden.of(256);
        Self {
            hidden: Linear::new((H.of(8), W.of(8)), hidden),
            dropout: Dropout::new(0.5),
            out: Linear::new(hidden, Class),
        }
    }

    fn forward(&self, x: &Tensor<(N, H, W)>, mode: Mode) -> Tensor<(N, Class)> {
        let x: Tensor<(N, Hidden)> = self.hidden.forward(x).relu();
        self.out.forward(&self.dropout.forward(&x, mode))
    }
}

/// Two convolutions, and a linear layer over channels, rows and columns.
#[derive(Module)]
pub(crate) struct Cnn {
    strokes: Conv2d<(H, W), Gray, Stroke>,
    shapes: Conv2d<(H, W), Stroke, Shape>,
    dropout: Dropout,
    out: Linear<(Shape, H, W), Class>,
}

impl Classifier for Cnn {
    fn new() -> Self {
        let (stroke, shape) = (Stroke.of(32), Shape.of(64));
        let kernel = (H.of(3), W.of(3));
        let same = ConvOptions {
            padding: Padding::Same,
            ..default()
        };
        Self {
            strokes: Conv2d::with(Gray, stroke, kernel, same),
            shapes: Conv2d::with(stroke, shape, kernel, same),
            dropout: Dropout::new(0.5),
            out: Linear::new((shape, H.of(4), W.of(4)), Class),
        }
    }

    fn forward(&self, x: &Tensor<(N, H, W)>, mode: Mode) -> Tensor<(N, Class)> {
        let x: Tensor<(N, Gray, H, W)> = x.unsqueeze(Gray).align_to((N, Gray, H, W));
        let x: Tensor<(N, Stroke, H, W)> = self.strokes.forward(&x).relu();
        let x: Tensor<(N, Shape, H, W)> = self.shapes.forward(&x).relu().max_pool2d((H, W), [2, 2]);
        self.out.forward(&self.dropout.forward(&x, mode))
    }
}

fn main() -> ExitCode {
    match Options::parse(std::env::args().skip(1)).and_then(|options| run(&options)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("digits: {error}");
            ExitCode::FAILURE
        }
    }
}

struct Options {
    resume: bool,
    out: PathBuf,
}

impl Options {
    fn parse(mut args: impl Iterator<Item = String>) -> Result<Self, Box<dyn Error>> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let (mut resume, mut out) = (false, root.join("target/digits"));
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--resume" => resume = true,
                "--out" => out = args.next().ok_or(USAGE)?.into(),
                _ => return Err(format!("no argument {arg}\n{USAGE}").into()),
            }
        }
        Ok(Self { resume, out })
    }
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let out = &options.out;
    std::fs::create_dir_all(out).map_err(|error| format!("{}: {error}", out.display()))?;
    let (train, held_out) = Digits::read()?.split(SEED);
    println!(
        "{} digits to train with, {} held out",
        train.len(),
        held_out.len()
    );
    let plan = |epochs, lr| Plan {
        epochs,
        lr,
        seed: SEED,
    };
    let mlp = trained::<Mlp>("mlp", plan(40, 5e-3), &train, options)?;
    report("mlp", &mlp, &held_out, 0.97, out)?;
    let cnn = trained::<Cnn>("cnn", plan(20, 4e-3), &train, options)?;
    report("cnn", &cnn, &held_out, 0.98, out)?;
    println!("\n{}", out.canonicalize()?.join("*.png").display());
    Ok(())
}

/// Trains a network for all epochs; writes a checkpoint after each.
fn trained<M: Classifier>(
    name: &str,
    plan: Plan,
    train: &Digits,
    options: &Options,
) -> Result<M, Box<dyn Error>> {
    let file = options.out.join(name).with_extension("safetensors");
    let mut training = if options.resume && file.exists() {
        Training::<M>::open(&file, plan)?
    } else {
        Training::new(plan)
    };
    println!("\n{name}: {} parameters", training.model.count());
    for (path, param) in training.model.params() {
        let names = param.names().iter().flatten().zip(param.shape());
        let dims: Vec<String> = names.map(|(name, size)| format!("{name}={size}")).collect();
        println!("  {path:<16}({})", dims.join(", "));
    }
    let mut progress = Progress::new(name.to_owned(), plan.epochs as usize);
    while !training.is_done() {
        progress.set_position(training.epoch as usize);
        let mut mean = Mean::default();
        training.run_epoch(train, |loss, count| {
            mean.update(loss, count);
            progress.show("loss", mean.value());
        })?;
        training.save(&file)?;
    }
    Ok(training.model)
}

/// Prints the accuracy on held-out digits, and draws the confusion matrix and the worst mistakes.
pub(crate) fn report(
    name: &str,
    model: &impl Classifier,
    digits: &Digits,
    least: f64,
    out: &Path,
) -> Result<(), Box<dyn Error>> {
    let scores = no_grad(|| model.forward(&digits.images, Mode::Eval));
    let told = scores.argmax(Class);
    let mut confusion = Confusion::new(Class);
    confusion.update(&told, &digits.labels);
    let right = confusion.accuracy();
    println!("  {:.2} % of held-out digits are told right", 100.0 * right);

    let file = |what: &str| out.join(format!("{name}-{what}.png"));
    pictures::confusion(&file("confusion"), &confusion.counts())?;

    let losses = scores.cross_entropy_with(&digits.labels, Class, reduction::None, default());
    let (losses, worst) = losses.topk(12, N);
    let told = told.index_select(N, &worst);
    pictures::worst(&file("worst"), &digits.pick(&worst), &told, &losses)?;

    if right < least {
        let (right, least) = (100.0 * right, 100.0 * least);
        return Err(format!("{name} tells {right:.2} % right, less than {least} %").into());
    }
    Ok(())
}
