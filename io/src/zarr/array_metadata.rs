//! `zarr.json`: the metadata of an array, and the storage of its chunks.

use std::str::FromStr;

use nomina::{DType, Error, ErrorKind, Name, Names, Result};
use nomina_runtime::shape::{bytes, numel};
use serde_json::value::RawValue;

use super::array_json::{ArrayJson, Codecs, Configuration, NamedConfig, Texts};
use super::blosc::Blosc;
use super::codec::{BytesCodec, Elements};
use super::codec_chain::{ArrayCodec, CodecChain, Shards};
use super::element::{TextCodec, parse_element, parse_unsigned};
use super::errors::{broken, other_version};
use crate::json::AtMost;

/// The metadata of an array.
#[derive(Clone, Debug)]
pub(super) struct ArrayMetadata {
    /// The dtype with the size of an element in the file.
    pub(super) dtype: DType,
    /// Whether elements are unsigned integers, which no dtype here has: they are read as `i64`.
    pub(super) unsigned: bool,
    pub(super) names: Names,
    /// The names in the file, which may be no identifiers.
    pub(super) dimension_names: Vec<Option<String>>,
    pub(super) shape: Vec<usize>,
    /// The sizes of a chunk.
    pub(super) chunk: Vec<usize>,
    pub(super) elements: Elements,
    pub(super) chain: CodecChain,
    /// The representation of texts, if elements are texts; their dtype is then without meaning.
    pub(super) text: Option<TextCodec>,
    /// The JSON text of the attributes.
    pub(super) attributes: String,
    keys: ChunkKeys,
}

/// The naming of chunk files.
#[derive(Clone, Debug)]
struct ChunkKeys {
    /// Whether a `c` precedes the numbers.
    prefixed: bool,
    separator: &'static str,
}

impl ArrayMetadata {
    /// Returns the path of a chunk's file, relative to the array's folder.
    pub(super) fn key(&self, index: &[usize]) -> String {
        let prefix = self.keys.prefixed.then(|| "c".to_owned());
        // An array without dims has one chunk.
        let single = (index.is_empty() && !self.keys.prefixed).then(|| "0".to_owned());
        let numbers = index.iter().map(usize::to_string);
        let words: Vec<String> = prefix.into_iter().chain(single).chain(numbers).collect();
        words.join(self.keys.separator)
    }

    /// Parses the metadata. If `lenient`, names that are no identifiers or repeated are left out.
    pub(super) fn read(op: &'static str, text: &str, lenient: bool) -> Result<Self> {
        let parsed = serde_json::from_str::<ArrayJson<'_>>(text);
        let json = parsed.map_err(|error| broken(op, error))?;
        let missing = |what| broken(op, format_args!("`{what}` is missing"));
        match (json.zarr_format, json.node_type.as_deref()) {
            (Some(3), Some("array")) => (),
            (Some(3), Some("group")) => {
                return Err(broken(op, "a group, not an array").hint("open its arrays"));
            }
            (Some(version), _) if version != 3 => return Err(other_version(op, version)),
            _ => return Err(broken(op, "not a zarr version 3 array")),
        }
        if let Some(key) = json.unknown {
            return Err(broken(op, format_args!("`{key}` is not supported")));
        }
        let data_type = json.data_type.ok_or_else(|| missing("data_type"))?;
        let bytes = data_type.configuration.length_bytes.unwrap_or_default();
        let data_type = data_type.name;
        let text = match &data_type[..] {
            "string" => Some(TextCodec::Variable),
            "fixed_length_utf32" => Some(TextCodec::Utf32(bytes)),
            "null_terminated_bytes" => Some(TextCodec::Bytes(bytes)),
            _ => None,
        };
        if text.is_some_and(|text| text.size() == 0 || text.size() > 1 << 20) {
            return Err(broken(op, "texts of no or too many bytes"));
        }
        let signed = data_type
            .strip_prefix('u')
            .filter(|name| *name != "int8" && text.is_none());
        let unsigned = signed.is_some();
        let dtype = match text {
            Some(_) => Some(DType::U8),
            None => DType::from_str(signed.unwrap_or(&data_type))
                .ok()
                .filter(|dtype| dtype.torch_name() == signed.unwrap_or(&data_type)),
        };
        let Some(dtype) = dtype else {
            let what = format!("elements of `{data_type}` are not supported");
            return Err(Error::new(ErrorKind::DType, op, what));
        };
        let shape = json.shape.ok_or_else(|| missing("shape"))?.0;
        numel(op, &shape)?;
        let dimension_names = parse_names(op, json.dimension_names, shape.len())?;
        let names = to_names(&dimension_names, lenient)?;
        let grid = json.chunk_grid.ok_or_else(|| missing("chunk_grid"))?;
        if grid.name != "regular" {
            return Err(broken(op, format_args!("chunks by `{}`", grid.name)));
        }
        let chunk = grid.configuration.sizes();
        let chunk = chunk.ok_or_else(|| missing("chunk_shape"))?;
        require_chunk(op, &chunk, &shape, dtype)?;
        let given = json.fill_value.ok_or_else(|| missing("fill_value"))?;
        let fill = match text {
            // Texts that were never written are empty.
            Some(text) => Some(vec![0; text.size()]),
            None if unsigned => parse_unsigned(dtype, given.get()),
            None => parse_element(dtype, given.get()),
        };
        let fill = fill.ok_or_else(|| {
            let text: String = given.get().chars().take(40).collect();
            broken(op, format_args!("`{text}` does not fit {data_type}"))
        })?;
        let codecs = json.codecs.ok_or_else(|| missing("codecs"))?;
        Ok(Self {
            elements: Elements {
                size: text.map_or(dtype.size(), TextCodec::size),
                number: match text {
                    Some(TextCodec::Utf32(_)) => 4,
                    Some(_) => 1,
                    None => dtype.to_real().size(),
                },
                fill,
            },
            chain: parse_chain(op, codecs, &chunk, dtype)?,
            attributes: json.attributes.map_or("{}", RawValue::get).to_owned(),
            keys: parse_keys(op, json.chunk_key_encoding)?,
            text,
            dtype,
            unsigned,
            names,
            dimension_names,
            shape,
            chunk,
        })
    }

    /// Returns the dtype in which elements are read.
    pub(super) const fn read_dtype(&self) -> DType {
        if self.unsigned {
            DType::I64
        } else {
            self.dtype
        }
    }

    /// Returns the metadata of a new array of zeros.
    pub(super) fn to_json(
        dtype: DType,
        names: &Names,
        shape: &[usize],
        chunk: &[usize],
    ) -> serde_json::Value {
        let endian = match dtype.to_real().size() {
            1 => serde_json::json!({ "name": "bytes" }),
            _ => serde_json::json!({ "name": "bytes", "configuration": { "endian": "little" } }),
        };
        let zero = match dtype {
            DType::Bool => serde_json::json!(false),
            DType::C64 | DType::C128 => serde_json::json!([0.0, 0.0]),
            _ if dtype.is_float() => serde_json::json!(0.0),
            _ => serde_json::json!(0),
        };
        let mut all = serde_json::json!({
            "zarr_format": 3,
            "node_type": "array",
            "shape": shape,
            "data_type": dtype.torch_name(),
            "chunk_grid": { "name": "regular", "configuration": { "chunk_shape": chunk } },
            "chunk_key_encoding": { "name": "default", "configuration": { "separator": "/" } },
            "fill_value": zero,
            "codecs": [endian, { "name": "gzip", "configuration": { "level": 1 } }],
            "attributes": {},
        });
        if names.has_names() {
            let names = names.iter().map(|name| name.as_ref().map(Name::as_str));
            all["dimension_names"] = names.collect();
        }
        all
    }
}

/// Refuses chunks with a size of 0, of another rank, or that are too large.
pub(super) fn require_chunk(
    op: &'static str,
    chunk: &[usize],
    shape: &[usize],
    dtype: DType,
) -> Result<()> {
    if chunk.len() != shape.len() || chunk.contains(&0) || bytes(op, chunk, dtype).is_err() {
        let what = format!("chunks of sizes {chunk:?} of an array of sizes {shape:?}");
        return Err(broken(op, what));
    }
    Ok(())
}

fn parse_names(op: &'static str, names: Option<Texts>, rank: usize) -> Result<Vec<Option<String>>> {
    let Some(AtMost(names)) = names else {
        return Ok(vec![None; rank]);
    };
    if names.len() != rank {
        let what = format!("{} names for {rank} dims", names.len());
        return Err(Error::new(ErrorKind::NamesLen, op, what));
    }
    // Writers of zarr denote an unnamed dim by `null` or by an empty text.
    let named = |name: Option<String>| name.filter(|name| !name.is_empty());
    Ok(names.into_iter().map(named).collect())
}

/// Returns the names of dims. If `lenient`, those that are no identifiers or repeated are left out.
pub(super) fn to_names(texts: &[Option<String>], lenient: bool) -> Result<Names> {
    let mut names: Vec<Option<Name>> = Vec::new();
    for text in texts {
        let name = match text.as_deref().map(Name::new).transpose() {
            Ok(name) => name.filter(|_| {
                !lenient || !names.contains(&Name::new(text.as_deref().unwrap_or_default()).ok())
            }),
            Err(_) if lenient => None,
            Err(error) => return Err(error),
        };
        names.push(name);
    }
    Names::new(names)
}

fn parse_keys(op: &'static str, encoding: Option<NamedConfig>) -> Result<ChunkKeys> {
    let missing = || broken(op, "`chunk_key_encoding` is missing");
    let encoding = encoding.ok_or_else(missing)?;
    let separator = encoding.configuration.separator;
    let (prefixed, usual) = match &encoding.name[..] {
        "default" => (true, "/"),
        "v2" => (false, "."),
        name => return Err(broken(op, format_args!("chunk keys by `{name}`"))),
    };
    let separator = match separator.as_deref().unwrap_or(usual) {
        "/" => "/",
        "." => ".",
        _ => return Err(broken(op, "chunk keys are separated by `/` or `.`")),
    };
    Ok(ChunkKeys {
        prefixed,
        separator,
    })
}

/// Resolves the codecs of a chunk.
fn parse_chain(
    op: &'static str,
    codecs: Codecs,
    chunk: &[usize],
    dtype: DType,
) -> Result<CodecChain> {
    let mut chunk = chunk.to_vec();
    let (mut transposed, mut array, mut packed) = (Vec::new(), None, Vec::new());
    for codec in codecs.0 {
        let wrong = |what: &str| broken(op, format_args!("codec `{}`: {what}", codec.name));
        let more = codec.configuration;
        match (&codec.name[..], &array) {
            ("transpose", None) => {
                let order = more.order.map(|order| order.0).unwrap_or_default();
                let mut sorted = order.clone();
                sorted.sort_unstable();
                if !sorted.into_iter().eq(0..chunk.len()) {
                    return Err(wrong("its order is not a permutation"));
                }
                chunk = order.iter().map(|&dim| chunk[dim]).collect();
                transposed.push(order);
            }
            ("bytes", None) => {
                let big = match more.endian.as_deref() {
                    Some("big") => true,
                    Some("little") => false,
                    None if dtype.size() == 1 => false,
                    _ => return Err(wrong("`endian` is `little` or `big`")),
                };
                array = Some(ArrayCodec::Bytes { big });
            }
            ("vlen-utf8", None) => array = Some(ArrayCodec::Bytes { big: false }),
            ("sharding_indexed", None) => {
                let shards = parse_shards(op, more, &chunk, dtype)?;
                array = Some(ArrayCodec::Shards(Box::new(shards)));
            }
            ("transpose" | "bytes" | "sharding_indexed" | "vlen-utf8", Some(_)) => {
                return Err(wrong("it takes elements, not bytes"));
            }
            ("blosc" | "crc32c" | "gzip" | "zlib" | "numcodecs.zlib" | "zstd", None) => {
                return Err(wrong("it takes bytes, not elements"));
            }
            (_, Some(ArrayCodec::Shards(_))) => {
                return Err(wrong("after `sharding_indexed`, which reads single chunks"));
            }
            ("crc32c", _) => packed.push(BytesCodec::Crc32c),
            ("gzip", _) => packed.push(BytesCodec::Gzip {
                level: more.level.unwrap_or(5).clamp(0, 9) as u32,
            }),
            ("zlib" | "numcodecs.zlib", _) => packed.push(BytesCodec::Zlib {
                level: more.level.unwrap_or(1).clamp(0, 9) as u32,
            }),
            ("zstd", _) => packed.push(BytesCodec::Zstd),
            ("blosc", _) => {
                let blosc = Blosc::new(&more, dtype.size()).map_err(|what| wrong(&what))?;
                packed.push(BytesCodec::Blosc(blosc));
            }
            _ => {
                return Err(wrong("unknown")
                    .hint("supported: blosc, bytes, crc32c, gzip, sharding_indexed, transpose, vlen-utf8, zlib, zstd"));
            }
        }
    }
    Ok(CodecChain {
        transposed,
        array: array.ok_or_else(|| broken(op, "codecs do not give bytes"))?,
        bytes: packed,
    })
}

fn parse_shards(
    op: &'static str,
    more: Configuration,
    chunk: &[usize],
    dtype: DType,
) -> Result<Shards> {
    let wrong = |what| broken(op, format_args!("codec `sharding_indexed`: {what}"));
    let inner = more.sizes().unwrap_or_default();
    require_chunk(op, &inner, chunk, dtype)?;
    if chunk
        .iter()
        .zip(&inner)
        .any(|(chunk, inner)| chunk % inner != 0)
    {
        return Err(wrong("chunks do not divide a shard"));
    }
    let AtMost(index) = more.index_codecs.unwrap_or(AtMost(Vec::new()));
    let little = |codec: &NamedConfig| codec.configuration.endian.as_deref() == Some("little");
    let summed = match &index[..] {
        [bytes] if bytes.name == "bytes" && little(bytes) => false,
        [bytes, sum] if bytes.name == "bytes" && little(bytes) && sum.name == "crc32c" => true,
        _ => {
            return Err(wrong(
                "the index needs codecs `bytes`, little, and `crc32c`",
            ));
        }
    };
    let at_end = match more.index_location.as_deref() {
        None | Some("end") => true,
        Some("start") => false,
        _ => {
            return Err(wrong("the index is neither at the end nor the start"));
        }
    };
    let codecs = more.codecs.unwrap_or(AtMost(Vec::new()));
    Ok(Shards {
        chain: parse_chain(op, codecs, &inner, dtype)?,
        chunk: inner,
        summed,
        at_end,
    })
}
