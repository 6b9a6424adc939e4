//! PNG images: tensors of dims (row, column) or (row, column, channel).
//!
//! The format has no names: they come from the requested type, and [`save`] goes by position. One channel is grey, two
//! are grey and alpha, three are red, green and blue, four add alpha.

use std::fs::File;
use std::io::{BufReader, BufWriter, Seek, Write};
use std::path::Path;

use ::png::{BitDepth, ColorType, Decoder, DecodingError, InterlaceInfo, Transformations};
use nomina::{DynTensor, Error, ErrorKind, Result};

use crate::open::OpenAs;
use crate::picture::{opened, samples, sizes};
use nomina_runtime::file::{self, failed};

/// Loads an image as a tensor of dims (row, column, channel), named by position as in the type; the dims of a
/// [`DynTensor`] have no names. A type of two dims accepts an image of one channel.
///
/// Elements are `u8` from 0 to 255, or `i32` from 0 to 65535 if the file has 16 bits per sample. Fewer bits are
/// expanded to eight, and palette colours to red, green and blue. Of an animation, the first image is read.
///
/// ```
/// use nomina::prelude::*;
/// use nomina_io::png;
/// dims! { H, W, Rgb = 3 }
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("x.png");
/// let red: Tensor<(H, W, Rgb), u8> = Tensor::from_fn([2, 4, 3], |at| [255, 0, 0][at[2]]);
/// png::save(&path, red)?;
/// let image: Tensor<(H, W, Rgb), u8> = png::load(&path)?;
/// assert_eq!(image.float().mean((H, W)).to_vec(), [255., 0., 0.]);
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// Returns [`ErrorKind::File`] if the file cannot be opened; [`ErrorKind::Parse`] if it is not an image, or truncated;
/// [`ErrorKind::Memory`] if memory is missing; [`ErrorKind::DType`], [`ErrorKind::Rank`] or [`ErrorKind::Shape`] if the
/// type has another dtype, other dims or another constant size.
pub fn load<X: OpenAs>(path: impl AsRef<Path>) -> Result<X> {
    let path = path.as_ref();
    let load = || opened("load", decoded("load", path)?);
    load().map_err(|error: Error| error.within(path.display()))
}

/// The maximum ratio by which deflate expands.
const INFLATES: u64 = 1032;

fn decoded(op: &'static str, path: &Path) -> Result<DynTensor> {
    let broken = |error: DecodingError| match error {
        DecodingError::IoError(error) if error.kind() != std::io::ErrorKind::UnexpectedEof => {
            failed(op, &error)
        }
        error => Error::new(ErrorKind::Parse, op, error.to_string()),
    };
    let file = file::open(path).map_err(|error| failed(op, &error))?;
    let len = file.metadata().map_err(|error| failed(op, &error))?.len();
    let mut decoder = Decoder::new(BufReader::new(file));
    decoder.set_transformations(Transformations::EXPAND);
    decoder.set_ignore_text_chunk(true);
    decoder.set_ignore_iccp_chunk(true);
    let header = decoder.read_header_info().map_err(broken)?;
    let (rows, columns) = (header.height as usize, header.width as usize);
    // The sizes in the header are refused if the file is too short for that many pixels.
    let least = header.raw_row_length() as u64 - 1;
    if least.saturating_mul(rows as u64) > len.saturating_mul(INFLATES) {
        let what = format!("a file of {len} bytes has no {rows} rows of {columns} pixels");
        return Err(Error::new(ErrorKind::Parse, op, what));
    }
    let mut reader = decoder.read_info().map_err(broken)?;
    let (color, depth) = reader.output_color_type();
    let shape = [rows, columns, color.samples()];
    let bytes = pixels(op, &mut reader, broken)?;
    let wide = depth == BitDepth::Sixteen;
    if !wide {
        return DynTensor::from_vec(bytes, &shape, ());
    }
    let samples = bytes.chunks_exact(2);
    let samples = samples.map(|pair| i32::from(u16::from_be_bytes([pair[0], pair[1]])));
    DynTensor::from_vec(samples.collect(), &shape, ())
}

/// Reads all samples, row by row. Memory is reserved as rows are decoded.
fn pixels<R: std::io::BufRead + Seek>(
    op: &'static str,
    reader: &mut ::png::Reader<R>,
    broken: impl Fn(DecodingError) -> Error,
) -> Result<Vec<u8>> {
    let memory = |_| Error::new(ErrorKind::Memory, op, "no memory for the pixels");
    let mut bytes = Vec::new();
    let mut passes = Vec::new();
    while let Some(row) = reader.next_interlaced_row().map_err(&broken)? {
        bytes.try_reserve(row.data().len()).map_err(memory)?;
        bytes.extend_from_slice(row.data());
        if let InterlaceInfo::Adam7(pass) = row.interlace() {
            passes.push((row.data().len(), *pass));
        }
    }
    if passes.is_empty() {
        return Ok(bytes);
    }
    let (color, depth) = reader.output_color_type();
    let samples = reader.output_buffer_size();
    let line = reader.output_line_size(reader.info().width);
    let (Some(size), Some(line)) = (samples, line) else {
        return Err(Error::new(ErrorKind::Parse, op, "too many pixels"));
    };
    let mut image = Vec::new();
    image.try_reserve_exact(size).map_err(memory)?;
    image.resize(size, 0);
    let bits = color.samples() as u8 * depth as u8;
    let mut rest = &bytes[..];
    for (len, pass) in passes {
        let (row, behind) = rest.split_at(len);
        ::png::expand_interlaced_row(&mut image, line, row, &pass, bits);
        rest = behind;
    }
    Ok(image)
}

/// Writes a tensor of dims (row, column) or (row, column, channel) as an image of eight bits per sample, with one to
/// four channels. The file appears either complete or not at all.
///
/// Elements of `u8` are written unchanged; floats from 0 to 1 become 0 to 255, and others are clamped; bools become
/// black and white.
///
/// ```
/// use nomina::prelude::*;
/// use nomina_io::png;
/// dims! { H, W, Rgb = 3 }
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("x.png");
/// let planes: Tensor<(Rgb, H, W)> = Tensor::rand([3, 20, 30]);
/// png::save(&path, planes.align_to((H, W, Rgb)))?;
/// png::save(&path, planes.mean(Rgb))?;                       // grey
/// png::save(&path, planes.mean(Rgb).gt(0.5))?;               // black and white
/// assert_eq!(png::load::<Tensor<(H, W), u8>>(&path)?.shape(), [20, 30]);
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// Returns [`ErrorKind::Rank`] unless there are two or three dims; [`ErrorKind::Shape`] for more than four channels,
/// for no pixels, and for more rows or columns than the format allows; [`ErrorKind::DType`] for other integers and for
/// complex numbers; [`ErrorKind::Argument`] for a NaN, with its position; [`ErrorKind::File`] if the file cannot be
/// written. An existing file is unchanged then.
pub fn save(path: impl AsRef<Path>, tensor: impl Into<DynTensor>) -> Result<()> {
    let (op, tensor) = ("save", tensor.into());
    file::write(op, path.as_ref(), |out| {
        let about = |error: Error| error.operand(tensor.names(), tensor.shape());
        write(op, out, &tensor).map_err(about)
    })
}

fn write(op: &'static str, out: &mut BufWriter<&File>, tensor: &DynTensor) -> Result<()> {
    let [rows, columns, channels] = sizes(op, tensor.shape())?;
    let color = match channels {
        1 => ColorType::Grayscale,
        2 => ColorType::GrayscaleAlpha,
        3 => ColorType::Rgb,
        _ => ColorType::Rgba,
    };
    let size = |n: usize| u32::try_from(n).ok().filter(|n| (1..1 << 31).contains(n));
    let (Some(height), Some(width)) = (size(rows), size(columns)) else {
        let what = format!("an image cannot have {rows} x {columns} pixels");
        return Err(Error::new(ErrorKind::Shape, op, what));
    };
    let bytes = samples(op, tensor.clone())?;
    let failed = |error: ::png::EncodingError| failed(op, &error.into());
    let mut encoder = ::png::Encoder::new(out as &mut dyn Write, width, height);
    encoder.set_color(color);
    encoder.set_depth(BitDepth::Eight);
    let mut writer = encoder.write_header().map_err(failed)?;
    writer.write_image_data(&bytes).map_err(failed)?;
    writer.finish().map_err(failed)
}
