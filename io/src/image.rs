//! Images of the crate `image`: tensors of dims (row, column) or (row, column, channel), by position as in
//! [`png`](https://docs.rs/nomina-io/latest/nomina_io/png/), without a copy if the element types match.

use ::image::{DynamicImage, ImageBuffer};
use nomina::{DType, DynTensor, Error, ErrorKind, Result};

use crate::open::OpenAs;
use crate::picture::{opened, samples, sizes};

/// Converts an image to a tensor of dims (row, column, channel), named by position as in the type; the dims of a
/// [`DynTensor`] have no names. A type of two dims accepts an image of one channel.
///
/// Elements are `u8`, or `i32` from 0 to 65535 if the image has 16 bits per sample, or `f32` if it has floats. Buffers
/// of `u8` and `f32` are reused without a copy.
///
/// ```
/// use nomina::prelude::*;
/// use nomina_io::image::{from_image, to_image};
/// dims! { H, W, Rgb = 3 }
/// let red = image::RgbImage::from_pixel(4, 2, image::Rgb([255, 0, 0]));
/// let x: Tensor<(H, W, Rgb), u8> = from_image(red)?;
/// assert_eq!(x.shape(), [2, 4, 3]);
/// let grey = to_image(x.float().mean(Rgb) / 255.0)?.into_luma8();
/// assert_eq!(grey.get_pixel(3, 1).0, [85]);
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// Returns [`ErrorKind::DType`], [`ErrorKind::Rank`] or [`ErrorKind::Shape`] if the type has another dtype, other dims
/// or another constant size; [`ErrorKind::Memory`] if memory is missing.
pub fn from_image<X: OpenAs>(image: impl Into<DynamicImage>) -> Result<X> {
    let (op, image) = ("from_image", image.into());
    let (rows, columns) = (image.height() as usize, image.width() as usize);
    let color = image.color();
    let shape = [rows, columns, usize::from(color.channel_count())];
    let tensor = match (image, color.bytes_per_pixel() / color.channel_count()) {
        (DynamicImage::ImageRgb32F(image), _) => DynTensor::from_vec(image.into_raw(), &shape, ()),
        (DynamicImage::ImageRgba32F(image), _) => DynTensor::from_vec(image.into_raw(), &shape, ()),
        (image, 1) => DynTensor::from_vec(image.into_bytes(), &shape, ()),
        (image, 2) => {
            let pairs = image.as_bytes().chunks_exact(2);
            let samples = pairs.map(|pair| i32::from(u16::from_ne_bytes([pair[0], pair[1]])));
            let mut all = nomina_runtime::memory::list(op, shape)?;
            all.extend(samples);
            DynTensor::from_vec(all, &shape, ())
        }
        _ => {
            let what = format!("{color:?} samples are not supported");
            Err(Error::new(ErrorKind::DType, op, what))
        }
    };
    opened(op, tensor.map_err(|error| error.in_op(op))?)
}

/// Converts a tensor of dims (row, column) or (row, column, channel), with one to four channels, to an image.
///
/// Elements of `u8` are unchanged, and so are `f32` of three or four channels. Other floats from 0 to 1 become 0 to
/// 255, and bools become black and white. The buffer is reused if it is not shared and the elements are unchanged.
///
/// # Errors
/// Returns [`ErrorKind::Rank`] unless there are two or three dims; [`ErrorKind::Shape`] for more than four channels,
/// and for more rows or columns than 32 bits can count; [`ErrorKind::DType`] for other integers and for complex
/// numbers; [`ErrorKind::Argument`] for a NaN that would become a byte.
pub fn to_image(tensor: impl Into<DynTensor>) -> Result<DynamicImage> {
    let (op, tensor) = ("to_image", tensor.into().detach());
    let (names, shape) = (tensor.names().clone(), tensor.shape().to_vec());
    let picture = || {
        let [rows, columns, channels] = sizes(op, &shape)?;
        let size = |n: usize| u32::try_from(n).ok();
        let (Some(height), Some(width)) = (size(rows), size(columns)) else {
            let what = format!("an image cannot have {rows} x {columns} pixels");
            return Err(Error::new(ErrorKind::Shape, op, what));
        };
        let picture = match (channels, tensor.dtype()) {
            (3, DType::F32) => {
                let all = tensor.into_parts().0.into_vec::<f32>()?;
                ImageBuffer::from_raw(width, height, all).map(DynamicImage::ImageRgb32F)
            }
            (4, DType::F32) => {
                let all = tensor.into_parts().0.into_vec::<f32>()?;
                ImageBuffer::from_raw(width, height, all).map(DynamicImage::ImageRgba32F)
            }
            _ => {
                let all = samples(op, tensor)?;
                match channels {
                    1 => ImageBuffer::from_raw(width, height, all).map(DynamicImage::ImageLuma8),
                    2 => ImageBuffer::from_raw(width, height, all).map(DynamicImage::ImageLumaA8),
                    3 => ImageBuffer::from_raw(width, height, all).map(DynamicImage::ImageRgb8),
                    _ => ImageBuffer::from_raw(width, height, all).map(DynamicImage::ImageRgba8),
                }
            }
        };
        // Cannot fail: the number of samples matches the sizes.
        picture.ok_or_else(|| Error::new(ErrorKind::Shape, op, "samples are not an image"))
    };
    picture().map_err(|error: Error| error.in_op(op).operand(&names, &shape))
}
