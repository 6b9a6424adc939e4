//! A variational autoencoder of handwritten digits: a Gaussian code of a few numbers for each picture.
//!
//! ```sh
//! cargo run --release -p nomina-examples-nn --example vae
//! ```
//!
//! `scripts/programs/vae.py` is the same program for PyTorch.

#[path = "digits/data.rs"]
pub(crate) mod data;

use std::error::Error;

use nomina::prelude::*;
use nomina::{no_grad, reduction};
use nomina_nn::prelude::*;

use data::Digits;

dims! {
    /// Pictures.
    pub N,
    /// Rows of a picture.
    pub H,
    /// Columns of a picture.
    pub W,
    /// The hidden layers.
    pub Hidden,
    /// The numbers that describe a picture.
    pub Code,
}

/// An encoder to the mean and log-variance of each picture's code, and a decoder from a code to pixels.
#[derive(Module)]
pub(crate) struct Vae {
    encoder: Linear<(H, W), Hidden>,
    mean: Linear<Hidden, Code>,
    log_variance: Linear<Hidden, Code>,
    decoder: Linear<Code, Hidden>,
    pixels: Linear<Hidden, (H, W)>,
}

impl Vae {
    pub(crate) fn new(code: usize) -> Self {
        let (picture, hidden, code) = ((H.of(8), W.of(8)), Hidden.of(128), Code.of(code));
        Self {
            encoder: Linear::new(picture, hidden),
            mean: Linear::new(hidden, code),
            log_variance: Linear::new(hidden, code),
            decoder: Linear::new(code, hidden),
            pixels: Linear::new(hidden, picture),
        }
    }

    pub(crate) fn encode(&self, x: &Tensor<(N, H, W)>) -> [Tensor<(N, Code)>; 2] {
        let hidden = self.encoder.forward(x).relu();
        [
            self.mean.forward(&hidden),
            self.log_variance.forward(&hidden),
        ]
    }

    /// Returns the logits of the pixels.
    pub(crate) fn decode(&self, code: &Tensor<(N, Code)>) -> Tensor<(N, H, W)> {
        self.pixels.forward(&self.decoder.forward(code).relu())
    }

    /// Returns the mean over pictures of the reconstruction error plus the divergence of the codes from a standard
    /// normal distribution, in nats: an upper bound of the negative log-likelihood. `noise` is drawn from a standard
    /// normal distribution.
    pub(crate) fn loss(&self, x: &Tensor<(N, H, W)>, noise: &Tensor<(N, Code)>) -> Tensor<()> {
        let [mean, log_variance] = self.encode(x);
        let code = &mean + (&log_variance * 0.5).exp() * noise;
        let logits = self.decode(&code);
        let error = logits.binary_cross_entropy_with_logits_with(x, reduction::None, default());
        let divergence = (mean.square() + log_variance.exp() - &log_variance - 1.0) * 0.5;
        (error.sum((H, W)) + divergence.sum(Code)).mean(N)
    }
}

/// Draws the noise for a number of pictures.
fn noise(vae: &Vae, pictures: usize) -> Tensor<(N, Code)> {
    Tensor::randn([pictures, vae.mean.weight.size(Code)])
}

/// Trains for some epochs and returns the loss of each, averaged over its batches.
pub(crate) fn train(vae: &mut Vae, digits: &Digits, epochs: u64) -> Vec<f32> {
    let mut adam = Adam::new(2e-3);
    let epoch = |seed| {
        let losses = Batches::shuffled(N.of(digits.len()), 64, seed).map(|rows| {
            let x = digits.pick(&rows).images;
            let loss = vae.loss(&x, &noise(vae, x.size(N)));
            loss.backward();
            adam.step(vae);
            loss.item()
        });
        let losses: Vec<f32> = losses.collect();
        losses.iter().sum::<f32>() / losses.len() as f32
    };
    (0..epochs).map(epoch).collect()
}

fn main() -> Result<(), Box<dyn Error>> {
    let (digits, held_out) = Digits::read()?.split(7);
    let mut vae = Vae::new(8);
    for (epoch, loss) in train(&mut vae, &digits, 40).iter().enumerate() {
        println!("epoch {epoch:2}: {loss:.2} nats a picture");
    }
    let bound = no_grad(|| vae.loss(&held_out.images, &noise(&vae, held_out.len()))).item();
    println!("held out: {bound:.2} nats a picture");
    let drawn = no_grad(|| vae.decode(&noise(&vae, 1)).sigmoid());
    println!("a new digit:");
    for row in drawn.squeeze(N).unbind(H) {
        let shade = |dark: f32| [' ', '.', ':', 'o', '#'][(dark * 4.0).round() as usize];
        println!(
            "{}",
            row.to_vec().into_iter().map(shade).collect::<String>()
        );
    }
    Ok(())
}
