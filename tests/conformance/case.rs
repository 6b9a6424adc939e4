//! A recorded case, read from a line of JSON.

use half::{bf16, f16};
use nomina_by_name::Value;
use nomina_core::{DType, Element, Name, Names, Scalar};
use nomina_runtime::{Device, DynSparse, DynTensor};
use num_complex::Complex;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value as Json;

/// The expected outcome of a case.
pub enum Wanted {
    /// This value; for random results only names, shape and dtype are compared.
    Result { value: Recorded, random: bool },
    /// An error of this kind.
    Error { kind: String },
    /// The gradients that `backward` computes from a seed for each inexact output: one for each tensor among the
    /// arguments, or none.
    Gradients {
        seeds: Vec<Value>,
        grads: Vec<Value>,
    },
}

/// One recorded call.
pub struct Case {
    pub id: String,
    pub op: String,
    pub args: Vec<Value>,
    pub kwargs: Vec<(String, Value)>,
    pub wanted: Wanted,
}

/// A recorded result.
pub enum Recorded {
    Tensor(Tensor),
    Sparse(Sparse),
    List(Vec<Self>),
    Plain(Box<Value>),
}

/// A recorded tensor, as in the file.
pub struct Tensor {
    pub names: Vec<Option<String>>,
    pub shape: Vec<usize>,
    pub dtype: DType,
    /// Row-major; absent for random results.
    pub data: Option<Vec<Scalar>>,
    /// Present if it matters: for views, and for cases about memory order.
    pub stride: Option<Vec<isize>>,
}

/// A recorded sparse tensor, as in the file.
pub struct Sparse {
    pub names: Vec<Option<String>>,
    pub shape: Vec<usize>,
    /// One list per sparse dim.
    pub indices: Vec<Vec<i64>>,
    /// A block per entry.
    pub values: Tensor,
    pub coalesced: bool,
}

type Parsed<T> = Result<T, String>;

impl Case {
    /// Removes the elements of a recorded result that PyTorch never wrote: those beyond the old end of a tensor that
    /// grew.
    pub fn forget_unwritten(&mut self) {
        let name = self.op.rsplit('.').next().unwrap_or_default();
        if let ("resize_" | "resize_as_", Some(Value::Tensor(old))) = (name, self.args.first())
            && let Wanted::Result { value, .. } = &mut self.wanted
            && let Recorded::Tensor(Tensor {
                data: Some(data), ..
            }) = value
        {
            data.truncate(old.numel());
        }
    }

    /// Parses a line, with its tensors on the host.
    pub fn parse(line: &str) -> Parsed<Self> {
        Self::parse_on(line, Device::Cpu)
    }

    /// Parses a line, with its tensors on a device in the recorded layout.
    pub fn parse_on(line: &str, device: Device) -> Parsed<Self> {
        let json: Json = serde_json::from_str(line).map_err(|e| e.to_string())?;
        let text = |key: &str| json[key].as_str().unwrap_or_default().to_owned();
        let args = array(&json["args"])?
            .iter()
            .map(|value| argument(value, device))
            .collect::<Parsed<_>>()?;
        let keywords: Keywords = serde_json::from_str(line).map_err(|e| e.to_string())?;
        let kwargs = keywords.kwargs.0.iter();
        let kwargs = kwargs.map(|(name, value)| Ok((name.clone(), argument(value, device)?)));
        let kwargs = kwargs.collect::<Parsed<_>>()?;
        let random = json["random"].as_bool().unwrap_or(false);
        let values = |key: &str| {
            let values = array(&json[key])?.iter();
            values
                .map(|value| argument(value, device))
                .collect::<Parsed<Vec<Value>>>()
        };
        let wanted = match (json.get("error"), json.get("grads")) {
            (Some(error), _) => Wanted::Error {
                kind: error["kind"].as_str().unwrap_or_default().to_owned(),
            },
            (None, Some(_)) => Wanted::Gradients {
                seeds: values("seeds")?,
                grads: values("grads")?,
            },
            (None, None) => Wanted::Result {
                value: recorded(&json["result"])?,
                random,
            },
        };
        Ok(Self {
            id: text("id"),
            op: text("op"),
            args,
            kwargs,
            wanted,
        })
    }
}

/// The keyword arguments of a line, in their original order: gradients are listed in the order of their operands.
struct Keywords {
    kwargs: Ordered,
}

// Implemented by hand, since crates that include this file have serde without its macros.
impl<'de> Deserialize<'de> for Keywords {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Line;

        impl<'de> Visitor<'de> for Line {
            type Value = Keywords;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a recorded case")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Keywords, A::Error> {
                let mut kwargs = Ordered::default();
                while let Some(key) = map.next_key::<String>()? {
                    if key == "kwargs" {
                        kwargs = map.next_value()?;
                    } else {
                        map.next_value::<IgnoredAny>()?;
                    }
                }
                Ok(Keywords { kwargs })
            }
        }

        deserializer.deserialize_map(Line)
    }
}

/// The entries of an object in their original order, whereas [`Json`] sorts them by name.
#[derive(Default)]
struct Ordered(Vec<(String, Json)>);

impl<'de> Deserialize<'de> for Ordered {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;

        impl<'de> Visitor<'de> for Entries {
            type Value = Ordered;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object, or null")
            }

            fn visit_unit<E>(self) -> Result<Ordered, E> {
                Ok(Ordered::default())
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Ordered, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Ordered(entries))
            }
        }

        deserializer.deserialize_any(Entries)
    }
}

fn array(json: &Json) -> Parsed<&Vec<Json>> {
    json.as_array().ok_or_else(|| format!("a list, not {json}"))
}

/// Returns the only key of an object, and its value.
fn tagged(json: &Json) -> Parsed<(&str, &Json)> {
    let map = json
        .as_object()
        .ok_or_else(|| format!("a value, not {json}"))?;
    map.iter()
        .next()
        .map(|(key, value)| (key.as_str(), value))
        .ok_or("an empty value".into())
}

fn argument(json: &Json, device: Device) -> Parsed<Value> {
    Ok(match recorded(json)? {
        Recorded::Plain(value) => *value,
        Recorded::Tensor(tensor) => Value::Tensor(tensor.build(device)?),
        Recorded::Sparse(sparse) => Value::Sparse(sparse.build(device)?),
        Recorded::List(_) => {
            let (_, items) = tagged(json)?;
            let items = array(items)?.iter().map(|item| argument(item, device));
            Value::List(items.collect::<Parsed<_>>()?)
        }
    })
}

fn recorded(json: &Json) -> Parsed<Recorded> {
    let (tag, value) = tagged(json)?;
    let text = || value.as_str().unwrap_or_default().to_owned();
    let bad = |what: &str| format!("{what}, not {value}");
    Ok(Recorded::Plain(Box::new(match tag {
        "tensor" => return Ok(Recorded::Tensor(tensor(value)?)),
        "sparse" => return Ok(Recorded::Sparse(sparse(value)?)),
        "list" | "tuple" => {
            let items = array(value)?.iter().map(recorded).collect::<Parsed<_>>()?;
            return Ok(Recorded::List(items));
        }
        "int" => Value::Int(value.as_i64().ok_or_else(|| bad("an integer"))?),
        "float" => Value::Float(float(value)?),
        "bool" => Value::Bool(value.as_bool().ok_or_else(|| bad("a bool"))?),
        "complex" => match number(value)? {
            Scalar::Complex(value) => Value::Complex(value),
            _ => return Err(bad("a complex number")),
        },
        "str" if text() == "..." => Value::Ellipsis,
        "str" => Value::Str(text()),
        "ellipsis" => Value::Ellipsis,
        "none" => Value::None,
        "dtype" => Value::DType(text().parse().map_err(|e| format!("{e}"))?),
        "device" => Value::Device(text().parse().map_err(|e| format!("{e}"))?),
        "dict" => {
            let pairs = array(value)?.iter().map(|pair| {
                let pair = array(pair)?;
                match &pair[..] {
                    [key, value] => {
                        let [key, value] = [key, value].map(|v| argument(v, Device::Cpu));
                        Ok((key?, value?))
                    }
                    _ => Err(bad("pairs")),
                }
            });
            Value::Dict(pairs.collect::<Parsed<_>>()?)
        }
        other => return Err(format!("a value of kind {other:?} is not known")),
    })))
}

fn float(json: &Json) -> Parsed<f64> {
    match json.as_str() {
        Some("nan") => Ok(f64::NAN),
        Some("inf") => Ok(f64::INFINITY),
        Some("-inf") => Ok(f64::NEG_INFINITY),
        _ => json.as_f64().ok_or_else(|| format!("a number, not {json}")),
    }
}

/// Parses an element: exact for integers, a pair for complex numbers.
fn number(json: &Json) -> Parsed<Scalar> {
    Ok(match json {
        Json::Bool(value) => Scalar::Bool(*value),
        Json::Array(parts) => match &parts[..] {
            [re, im] => Scalar::Complex(Complex::new(float(re)?, float(im)?)),
            _ => return Err(format!("a complex number, not {json}")),
        },
        other => match other.as_i64() {
            Some(value) => Scalar::Int(value),
            None => Scalar::Float(float(other)?),
        },
    })
}

fn tensor(json: &Json) -> Parsed<Tensor> {
    let index = |value: &Json| {
        value
            .as_u64()
            .map(|size| size as usize)
            .ok_or_else(|| format!("a size, not {value}"))
    };
    Ok(Tensor {
        names: array(&json["names"])?
            .iter()
            .map(|n| n.as_str().map(str::to_owned))
            .collect(),
        shape: array(&json["shape"])?
            .iter()
            .map(index)
            .collect::<Parsed<_>>()?,
        dtype: json["dtype"]
            .as_str()
            .unwrap_or_default()
            .parse()
            .map_err(|e| format!("{e}"))?,
        data: match json.get("data") {
            None | Some(Json::Null) => None,
            Some(data) => Some(array(data)?.iter().map(number).collect::<Parsed<_>>()?),
        },
        stride: match json.get("stride") {
            None | Some(Json::Null) => None,
            Some(strides) => {
                let stride = |s: &Json| s.as_i64().map(|s| s as isize).ok_or("a stride".to_owned());
                Some(array(strides)?.iter().map(stride).collect::<Parsed<_>>()?)
            }
        },
    })
}

fn sparse(json: &Json) -> Parsed<Sparse> {
    let whole = tensor(json)?;
    let row = |row: &Json| {
        let index = |i: &Json| i.as_i64().ok_or_else(|| format!("an index, not {i}"));
        array(row)?.iter().map(index).collect::<Parsed<Vec<i64>>>()
    };
    let indices = array(&json["indices"])?.iter().map(row);
    let indices = indices.collect::<Parsed<Vec<_>>>()?;
    let data = array(&json["values"])?.iter().map(number);
    let data = data.collect::<Parsed<Vec<_>>>()?;
    let block: usize = whole.shape[indices.len()..].iter().product();
    let count = indices.first().map_or(data.len() / block.max(1), Vec::len);
    let dense = whole.shape[indices.len()..].iter().copied();
    let shape: Vec<usize> = std::iter::once(count).chain(dense).collect();
    Ok(Sparse {
        names: whole.names,
        shape: whole.shape,
        indices,
        values: Tensor {
            names: vec![None; shape.len()],
            shape,
            dtype: whole.dtype,
            data: Some(data),
            stride: None,
        },
        coalesced: json["coalesced"].as_bool().unwrap_or(false),
    })
}

impl Sparse {
    fn build(&self, device: Device) -> Parsed<DynSparse> {
        let said = |e: nomina_core::Error| e.to_string();
        let count = self.values.shape[0];
        let indices = DynTensor::from_vec(self.indices.concat(), &[self.indices.len(), count], ());
        let indices = indices.and_then(|x| x.to_device(device)).map_err(said)?;
        let values = self.values.build(device)?;
        let x = DynSparse::from_coo(&indices, &values, &self.shape, ());
        let x = x.map_err(said)?;
        let x = if self.coalesced {
            x.coalesce().map_err(said)?
        } else {
            x
        };
        let names: Vec<Option<&str>> = self.names.iter().map(Option::as_deref).collect();
        x.rename(&names[..]).map_err(said)
    }
}

impl Tensor {
    /// Builds the tensor in the recorded layout.
    fn build(&self, device: Device) -> Parsed<DynTensor> {
        let numel: usize = self.shape.iter().product();
        let zeros = vec![Scalar::Int(0); numel];
        let data = self.data.as_ref().unwrap_or(&zeros);
        let x = match &self.stride {
            Some(strides) => {
                let (spread, len) = self.spread(data, strides);
                let buffer = from_scalars(self.dtype, &spread, &[len]);
                let buffer = buffer.and_then(|buffer| buffer.to_device(device));
                buffer.and_then(|buffer| buffer.as_strided(&self.shape, strides, 0))
            }
            None => from_scalars(self.dtype, data, &self.shape).and_then(|x| x.to_device(device)),
        };
        let name = |name: &Option<String>| name.as_deref().map(Name::new).transpose();
        let names = self.names.iter().map(name).collect::<Result<Names, _>>();
        x.and_then(|x| DynTensor::from_parts(x.into_parts().0, names?))
            .map_err(|e| e.to_string())
    }

    /// Moves row-major data to the offsets that the strides address.
    fn spread(&self, data: &[Scalar], strides: &[isize]) -> (Vec<Scalar>, usize) {
        let place = |mut i: usize| {
            let mut at = 0;
            for (&size, &stride) in self.shape.iter().zip(strides).rev() {
                at += (i % size) * stride.unsigned_abs();
                i /= size;
            }
            at
        };
        let len = (0..data.len()).map(place).max().unwrap_or(0) + 1;
        let mut spread = vec![Scalar::Int(0); len];
        for (i, &value) in data.iter().enumerate() {
            spread[place(i)] = value;
        }
        (spread, len)
    }
}

fn from_scalars(dtype: DType, data: &[Scalar], shape: &[usize]) -> nomina_core::Result<DynTensor> {
    fn typed<T: Element>(data: &[Scalar], shape: &[usize]) -> nomina_core::Result<DynTensor> {
        DynTensor::from_vec(data.iter().map(|&v| T::from_scalar(v)).collect(), shape, ())
    }
    match dtype {
        DType::Bool => typed::<bool>(data, shape),
        DType::U8 => typed::<u8>(data, shape),
        DType::I8 => typed::<i8>(data, shape),
        DType::I16 => typed::<i16>(data, shape),
        DType::I32 => typed::<i32>(data, shape),
        DType::I64 => typed::<i64>(data, shape),
        DType::F16 => typed::<f16>(data, shape),
        DType::BF16 => typed::<bf16>(data, shape),
        DType::F32 => typed::<f32>(data, shape),
        DType::F64 => typed::<f64>(data, shape),
        DType::C64 => typed::<Complex<f32>>(data, shape),
        DType::C128 => typed::<Complex<f64>>(data, shape),
    }
}
