//! Blurs a photograph and finds its edges: windows along named dims, contracted with a kernel.

use std::error::Error;

use nomina::prelude::*;
use zune_jpeg::{JpegDecoder, zune_core::bytestream::ZCursor};

// Rows and columns of the picture, and of a kernel.
dims! { pub H, pub W, pub Rgb = 3, pub KernelH, pub KernelW, pub Direction = 2 }

/// Loads the picture of a flower, with values from 0 to 1.
pub fn flower() -> Result<Tensor<(H, W, Rgb)>, Box<dyn Error>> {
    let file = include_bytes!("data/flower.jpg");
    let mut decoder = JpegDecoder::new(ZCursor::new(file));
    let bytes = decoder.decode()?;
    let (width, height) = decoder.dimensions().ok_or("a picture without a size")?;
    Ok(Tensor::<_, u8>::from_vec(bytes, [height, width, 3])?.float() / 255.0)
}

/// Returns weighted means of five by five pixels, computed one dim after the other.
pub fn blur(image: &Tensor<(H, W, Rgb)>) -> Tensor<(H, W, Rgb)> {
    let bell = tensor!([1., 4., 6., 4., 1.]; KernelH) / 16.0;
    let rows = image.unfold(H, 5, 1, KernelH).contract(&bell, KernelH);
    rows.unfold(W, 5, 1, KernelW)
        .contract(&bell.rename(KernelH, KernelW), KernelW)
}

/// Returns the magnitude of the brightness gradient, by Sobel's kernels.
pub fn edges(image: &Tensor<(H, W, Rgb)>) -> Tensor<(H, W)> {
    let grey = image.contract(&tensor!([0.299, 0.587, 0.114]; Rgb), Rgb);
    let right = tensor!([[-1., 0., 1.], [-2., 0., 2.], [-1., 0., 1.]]; KernelH, KernelW);
    let down = tensor!([[-1., -2., -1.], [0., 0., 0.], [1., 2., 1.]]; KernelH, KernelW);
    let sobel: Tensor<(Direction, KernelH, KernelW)> = stack(&[down, right], Direction);
    let windows = grey.unfold(H, 3, 1, KernelH).unfold(W, 3, 1, KernelW);
    windows.contract(&sobel, (KernelH, KernelW)).norm(Direction)
}

fn main() -> Result<(), Box<dyn Error>> {
    let image = flower()?;
    let (sharp, soft) = (edges(&image), edges(&blur(&image)));
    println!(
        "mean steepness {:.4}, blurred {:.4}",
        sharp.mean(..).item(),
        soft.mean(..).item()
    );
    Ok(())
}
