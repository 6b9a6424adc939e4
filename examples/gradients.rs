//! Gradients by name: logistic regression on handwritten digits, deblurring a photograph by gradient descent, a
//! Hessian.
//!
//! ```sh
//! cargo run --release -p nomina-examples --example gradients
//! ```
//!
//! The program writes the pictures before and after to `target/gradients`.

use std::error::Error;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use nomina::grad::{hessian, no_grad, value_and_grad};
use nomina::prelude::*;
use zune_jpeg::zune_core::bytestream::ZCursor;

dims! { N, Pixel = 64, Class = 10, H, W, Rgb = 3 }

type Digits = (Tensor<(N, Pixel)>, Tensor<(N,), i64>);

fn main() -> Result<(), Box<dyn Error>> {
    let (train, test) = (digits(false)?, digits(true)?);
    let (weight, bias) = regression(&train, 400);
    let right = accuracy(&weight, &bias, &test);
    println!(
        "digits    {:?}, dims (Pixel, Class): {right:.3} of {} held out are told right",
        weight.shape(),
        test.1.size(N)
    );
    assert!(right >= 0.93, "the regression learned too little");

    let sharp = photograph()?;
    let seen = blur(&sharp);
    let found = deblurred(&seen, 60);
    let error = |x: &Tensor<(H, W)>| (x - &sharp).square().mean(..).sqrt().item();
    println!(
        "photo     {:?}, dims (H, W): off by {:.4} blurred, by {:.4} after descent",
        sharp.shape(),
        error(&seen),
        error(&found)
    );
    assert!(
        error(&found) < 0.8 * error(&seen),
        "the picture is no sharper"
    );
    save(&seen, "blurred.png")?;
    save(&found, "deblurred.png")?;

    let curvature = curvature(&weight, &bias, &test);
    let sums = curvature.sum(Prime(Class)).abs().max(..).item();
    assert!(
        sums < 1e-5,
        "all biases together change nothing, so that rows add up to zero"
    );
    println!(
        "hessian   {:?}, dims (Class, Class'):\n{curvature:.3}",
        curvature.shape()
    );
    Ok(())
}

/// Returns the mean cross entropy.
fn loss(
    weight: &Tensor<(Pixel, Class)>,
    bias: &Tensor<(Class,)>,
    (images, labels): &Digits,
) -> Tensor<()> {
    let scores = images.contract(weight, Pixel) + bias;
    let chosen = (&scores * labels.one_hot(Class).float()).sum(Class);
    (scores.exp().sum(Class).log() - chosen).mean(..)
}

/// Returns the weights and biases after some steps of gradient descent.
fn regression(train: &Digits, steps: usize) -> (Tensor<(Pixel, Class)>, Tensor<(Class,)>) {
    let mut weight = Tensor::<(Pixel, Class)>::zeros((Pixel, Class)).with_grad();
    let mut bias = Tensor::<(Class,)>::zeros((Class,)).with_grad();
    for _ in 0..steps {
        loss(&weight, &bias, train).backward();
        no_grad(|| {
            if let (Some(dw), Some(db)) = (weight.take_grad(), bias.take_grad()) {
                weight -= dw * 0.5;
                bias -= db * 0.5;
            }
        });
    }
    (weight.detach(), bias.detach())
}

/// Returns the fraction of digits that are classified correctly.
fn accuracy(
    weight: &Tensor<(Pixel, Class)>,
    bias: &Tensor<(Class,)>,
    (images, labels): &Digits,
) -> f32 {
    let scores = images.contract(weight, Pixel) + bias;
    scores.argmax(Class).eq(labels).float().mean(..).item()
}

/// Returns the Hessian of the loss with respect to the biases.
fn curvature(
    weight: &Tensor<(Pixel, Class)>,
    bias: &Tensor<(Class,)>,
    digits: &Digits,
) -> Tensor<(Class, Prime<Class>)> {
    hessian(|bias| loss(weight, bias, digits), bias)
}

/// Simulates a camera out of focus: Gaussian-weighted means along rows and columns.
fn blur(image: &Tensor<(H, W)>) -> Tensor<(H, W)> {
    let rows = Tensor::<(H, Prime<H>)>::from_fn([image.size(H); 2], bell);
    let columns = Tensor::<(W, Prime<W>)>::from_fn([image.size(W); 2], bell);
    let blurred = image.contract(&rows, H).rename(Prime(H), H);
    blurred.contract(&columns, W).rename(Prime(W), W)
}

fn bell(at: &[usize]) -> f32 {
    let apart = at[0].abs_diff(at[1]) as f32;
    (-apart * apart / 8.0).exp() / 5.0133
}

/// Finds the picture that looks like `seen` after blurring, by gradient descent from `seen`.
fn deblurred(seen: &Tensor<(H, W)>, steps: usize) -> Tensor<(H, W)> {
    let mut image = seen.clone();
    for _ in 0..steps {
        let (_, slope) = value_and_grad(|image| (blur(image) - seen).square().sum(..), &image);
        image -= slope * 0.9;
    }
    image.clamp(0.0, 1.0)
}

/// Loads handwritten digits of 8 x 8 pixels with values from 0 to 16. Every fourth one is held out.
fn digits(held_out: bool) -> Result<Digits, Box<dyn Error>> {
    let mut pixels = Vec::new();
    let mut labels = Vec::new();
    let lines = include_str!("data/digits.csv").lines().enumerate();
    for (_, line) in lines.filter(|(at, _)| (at % 4 == 0) == held_out) {
        let row: Vec<u8> = line.split(',').map(str::parse).collect::<Result<_, _>>()?;
        let (label, image) = row.split_last().ok_or("an empty line")?;
        pixels.extend(image.iter().map(|&pixel| f32::from(pixel) / 16.0));
        labels.push(i64::from(*label));
    }
    let count = labels.len();
    let images = Tensor::<(N, Pixel)>::from_vec(pixels, (N.of(count), Pixel))?;
    Ok((images, Tensor::from_vec(labels, [count])?))
}

/// Loads the picture of a flower in this repository, in grey.
fn photograph() -> Result<Tensor<(H, W)>, Box<dyn Error>> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/flower.jpg");
    let file = std::fs::read(file)?;
    let mut decoder = zune_jpeg::JpegDecoder::new(ZCursor::new(&file));
    let bytes = decoder.decode()?;
    let (width, height) = decoder.dimensions().ok_or("a picture without a size")?;
    let image = Tensor::<(H, W, Rgb), u8>::from_vec(bytes, [height, width, 3])?;
    Ok(image.to::<f32>().mean(Rgb) / 255.0)
}

fn save(image: &Tensor<(H, W)>, name: &str) -> Result<(), Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("target/gradients");
    std::fs::create_dir_all(&folder)?;
    let (rows, columns) = (u32::try_from(image.size(H))?, u32::try_from(image.size(W))?);
    let file = BufWriter::new(File::create(folder.join(name))?);
    let mut encoder = png::Encoder::new(file, columns, rows);
    encoder.set_color(png::ColorType::Grayscale);
    let bytes = (image.clamp(0.0, 1.0) * 255.0).round().to::<u8>().to_vec();
    encoder.write_header()?.write_image_data(&bytes)?;
    Ok(())
}
