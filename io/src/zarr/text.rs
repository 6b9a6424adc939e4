//! Arrays of texts: `string` with the codec `vlen-utf8`, `fixed_length_utf32` and `null_terminated_bytes`.

use std::io::{self, Read};
use std::path::Path;

use nomina::{Error, ErrorKind, Result};
use nomina_runtime::file::{self, failed};

use super::array_metadata::ArrayMetadata;
use super::codec::corrupt;
use super::element::TextCodec;
use super::errors::{broken, chunk_failed};
use super::group::{describe, description};
use super::{Zarr, numel};

/// The maximum bytes of a decoded chunk of texts.
const LARGEST: u64 = 1 << 31;

/// An array of texts, with its metadata.
#[derive(Clone, Debug, PartialEq)]
pub struct Texts {
    /// The names of the dims, as the file spells them.
    pub dimension_names: Vec<Option<String>>,
    /// The sizes of the dims.
    pub shape: Vec<usize>,
    /// The texts, in row-major order.
    pub texts: Vec<String>,
}

/// Reads an array of texts. `None` if the elements are no texts.
///
/// ```
/// use nomina_io::zarr;
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("station");
/// zarr::write_texts(&path, "station", &["Oslo", "Bergen"])?;
/// let station = zarr::read_texts(&path)?.unwrap();
/// assert_eq!(station.texts, ["Oslo", "Bergen"]);
/// # Ok::<(), nomina::Error>(())
/// ```
///
/// # Errors
/// Returns [`ErrorKind::File`] if the array cannot be read, and [`ErrorKind::Parse`] if it is corrupt.
pub fn read_texts(path: impl AsRef<Path>) -> Result<Option<Texts>> {
    let (op, path) = ("read_texts", path.as_ref());
    description(op, path)
        .and_then(|text| described_texts(op, path, &text))
        .map_err(|error: Error| error.within(path.display()))
}

/// Reads the array of texts with these metadata.
pub(super) fn described_texts(op: &'static str, path: &Path, text: &str) -> Result<Option<Texts>> {
    let array = ArrayMetadata::read(op, text, true)?;
    let Some(codec) = array.text else {
        return Ok(None);
    };
    let (dimension_names, shape) = (array.dimension_names.clone(), array.shape.clone());
    let texts = match codec {
        TextCodec::Variable => variable(op, path, &array)?,
        fixed => {
            let all = Zarr::<nomina::DynTensor>::texts(path, array).read_bytes(op)?;
            let decode = |bytes: &[u8]| match fixed {
                TextCodec::Utf32(_) => utf32(op, bytes),
                _ => Ok(String::from_utf8_lossy(bytes)
                    .trim_end_matches('\0')
                    .to_owned()),
            };
            all.chunks_exact(fixed.size().max(1))
                .map(decode)
                .collect::<Result<_>>()?
        }
    };
    Ok(Some(Texts {
        dimension_names,
        shape,
        texts,
    }))
}

fn utf32(op: &'static str, bytes: &[u8]) -> Result<String> {
    let points = bytes
        .as_chunks::<4>()
        .0
        .iter()
        .map(|bytes| u32::from_le_bytes(*bytes));
    let text: Option<String> = points
        .take_while(|&point| point != 0)
        .map(char::from_u32)
        .collect();
    text.ok_or_else(|| broken(op, "a text has an invalid character"))
}

/// Reads texts of any length: chunks are decoded at once.
fn variable(op: &'static str, path: &Path, array: &ArrayMetadata) -> Result<Vec<String>> {
    let count = numel(op, &array.shape)?;
    let mut texts = Vec::new();
    texts
        .try_reserve_exact(count)
        .map_err(|_| Error::new(ErrorKind::Memory, op, "no memory for the texts"))?;
    texts.resize(count, String::new());
    let whole = super::array_box::ArrayBox::whole(
        &array.shape,
        0,
        super::array_box::row_major(&array.shape),
    );
    whole.each_chunk(&array.chunk, |index, part| {
        let key = array.key(index);
        let mut read = || -> io::Result<()> {
            let file = match file::open(&path.join(&key)) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
                file => file?,
            };
            let mut stream: Box<dyn Read> = Box::new(&file);
            for codec in array.chain.bytes.iter().rev() {
                stream = codec.unpack(stream, LARGEST)?;
            }
            let mut bytes = Vec::new();
            stream.take(LARGEST).read_to_end(&mut bytes)?;
            let all = split(&bytes, array.chunk.iter().product())?;
            let strides = super::array_box::row_major(&array.chunk);
            let mut from = Vec::new();
            positions(&part.from, &part.size, &strides, 0, 0, &mut from);
            let mut to = Vec::new();
            let zero = vec![0; part.size.len()];
            positions(&zero, &part.size, &part.strides, 0, part.to, &mut to);
            for (from, to) in from.into_iter().zip(to) {
                all[from].clone_into(&mut texts[to]);
            }
            Ok(())
        };
        read().map_err(|error| chunk_failed(op, &error).within(format_args!("chunk {key}")))
    })?;
    Ok(texts)
}

/// Lists the offsets of a box's elements, in row-major order.
fn positions(
    from: &[usize],
    size: &[usize],
    strides: &[usize],
    dim: usize,
    base: usize,
    all: &mut Vec<usize>,
) {
    if dim == size.len() {
        all.push(base);
        return;
    }
    for at in 0..size[dim] {
        positions(
            from,
            size,
            strides,
            dim + 1,
            base + (from[dim] + at) * strides[dim],
            all,
        );
    }
}

/// Splits a chunk into its texts.
fn split(bytes: &[u8], count: usize) -> io::Result<Vec<&str>> {
    let mut rest = bytes;
    let number = |rest: &mut &[u8]| -> io::Result<usize> {
        let (head, tail) = rest
            .split_first_chunk::<4>()
            .ok_or_else(|| corrupt("texts end early"))?;
        *rest = tail;
        Ok(u32::from_le_bytes(*head) as usize)
    };
    if number(&mut rest)? != count {
        return Err(corrupt("a chunk has another number of texts"));
    }
    let mut texts = Vec::new();
    for _ in 0..count {
        let len = number(&mut rest)?;
        let (text, tail) = rest
            .split_at_checked(len)
            .ok_or_else(|| corrupt("texts end early"))?;
        texts.push(std::str::from_utf8(text).map_err(|_| corrupt("a text is not UTF-8"))?);
        rest = tail;
    }
    Ok(texts)
}

/// Writes a new array of texts along one dim: `string` with the codec `vlen-utf8`, as one chunk.
///
/// # Errors
/// Returns [`ErrorKind::File`] if the array exists, the folder is not empty, or it cannot be written.
pub fn write_texts(path: impl AsRef<Path>, dim: &str, texts: &[impl AsRef<str>]) -> Result<()> {
    write_text_array(path.as_ref(), &[dim], &[texts.len()], texts)
}

/// Writes a new array of texts like [`write_texts`], with any number of dims.
///
/// # Errors
/// Returns the errors of [`write_texts`]; [`ErrorKind::Shape`] if the sizes do not match the number of texts.
pub fn write_text_array(
    path: &Path,
    dims: &[&str],
    shape: &[usize],
    texts: &[impl AsRef<str>],
) -> Result<()> {
    let op = "write_texts";
    let write = || {
        if shape.len() != dims.len() || numel(op, shape)? != texts.len() {
            let what = format!(
                "{} texts for sizes {shape:?} and dims {dims:?}",
                texts.len()
            );
            return Err(Error::new(ErrorKind::Shape, op, what));
        }
        let chunk: Vec<usize> = shape.iter().map(|&size| size.max(1)).collect();
        let text = serde_json::json!({
            "zarr_format": 3,
            "node_type": "array",
            "shape": shape,
            "data_type": "string",
            "chunk_grid": { "name": "regular", "configuration": { "chunk_shape": chunk } },
            "chunk_key_encoding": { "name": "default", "configuration": { "separator": "/" } },
            "fill_value": "",
            "codecs": [{ "name": "vlen-utf8" }],
            "attributes": {},
            "dimension_names": dims,
        });
        describe(op, path, &text.to_string(), true)?;
        if texts.is_empty() {
            return Ok(());
        }
        let io = |error: io::Error| failed(op, &error);
        let key = format!("c{}", "/0".repeat(shape.len()));
        let target = path.join(key);
        std::fs::create_dir_all(target.parent().unwrap_or(path)).map_err(io)?;
        let mut bytes = (texts.len() as u32).to_le_bytes().to_vec();
        for text in texts {
            let text = text.as_ref();
            bytes.extend((text.len() as u32).to_le_bytes());
            bytes.extend(text.as_bytes());
        }
        file::write(op, &target, |out| {
            io::Write::write_all(out, &bytes).map_err(io)
        })
    };
    write().map_err(|error: Error| error.within(path.display()))
}

/// Replaces the names of the dims of an array of version 3, which may be no identifiers.
///
/// # Errors
/// Returns [`ErrorKind::File`] if the array cannot be written, and [`ErrorKind::NamesLen`] if it has another number of
/// dims.
pub fn set_dimension_names(path: impl AsRef<Path>, names: &[&str]) -> Result<()> {
    let (op, path) = ("set_dimension_names", path.as_ref());
    let rank = ArrayMetadata::read(op, &description(op, path)?, true)?
        .shape
        .len();
    if names.len() != rank {
        let what = format!("{} names for {rank} dims", names.len());
        return Err(Error::new(ErrorKind::NamesLen, op, what).within(path.display()));
    }
    super::group::edit_description(op, path, |json| {
        json["dimension_names"] = names.to_vec().into()
    })
}
