//! Serialisation of tensors with `serde`: dtype, names, sizes, and the elements in row-major order.
//!
//! `{"dtype":"float32","names":["N",null],"shape":[1,2],"values":[0.5,1.0]}` in JSON. The order is
//! part of the format: elements are read after their dtype is known. 16-bit floats are written as
//! `f32`, complex numbers as pairs.

use std::fmt;
use std::marker::PhantomData;

use half::{bf16, f16};
use nomina_core::{DType, Element, Name};
use num_complex::Complex;
use serde::de::{self, DeserializeOwned, DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde::ser::{Error as _, SerializeStruct};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::DynTensor;
use crate::dispatch::with_dtype;

const FIELDS: &[&str] = &["dtype", "names", "shape", "values"];

impl Serialize for DynTensor {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let names = self.names().iter();
        let names: Vec<Option<&str>> = names.map(|name| name.as_ref().map(Name::as_str)).collect();
        let mut fields = serializer.serialize_struct("Tensor", FIELDS.len())?;
        fields.serialize_field("dtype", self.dtype().torch_name())?;
        fields.serialize_field("names", &names)?;
        fields.serialize_field("shape", self.shape())?;
        with_dtype!(self.dtype(), T => {
            let values = self.to_vec::<T>().map_err(S::Error::custom)?;
            fields.serialize_field("values", &SerializedSlice(&values))?;
        });
        fields.end()
    }
}

/// An element in the data model of serde.
trait SerdeElement: Element {
    type Form: Serialize + DeserializeOwned;
    fn form(self) -> Self::Form;
    fn from_form(form: Self::Form) -> Self;
}

macro_rules! portable {
    ($($t:ty as $form:ty: $x:ident => $to:expr, $from:expr;)*) => {$(
        impl SerdeElement for $t {
            type Form = $form;
            fn form(self) -> $form {
                let $x = self;
                $to
            }
            fn from_form($x: $form) -> Self {
                $from
            }
        }
    )*};
}
portable! {
    bool as bool: x => x, x;
    u8 as u8: x => x, x;
    i8 as i8: x => x, x;
    i16 as i16: x => x, x;
    i32 as i32: x => x, x;
    i64 as i64: x => x, x;
    f16 as f32: x => x.to_f32(), f16::from_f32(x);
    bf16 as f32: x => x.to_f32(), bf16::from_f32(x);
    f32 as f32: x => x, x;
    f64 as f64: x => x, x;
    Complex<f32> as [f32; 2]: x => [x.re, x.im], Complex::new(x[0], x[1]);
    Complex<f64> as [f64; 2]: x => [x.re, x.im], Complex::new(x[0], x[1]);
}

struct SerializedSlice<'a, T>(&'a [T]);

impl<T: SerdeElement> Serialize for SerializedSlice<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|&x| x.form()))
    }
}

impl<'de> Deserialize<'de> for DynTensor {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_struct("Tensor", FIELDS, Fields)
    }
}

/// Reads the fields, in a format with or without their names.
struct Fields;

impl<'de> Visitor<'de> for Fields {
    type Value = DynTensor;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a tensor: its dtype, names, shape and values, in this order")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<DynTensor, A::Error> {
        let short = |at| de::Error::invalid_length(at, &Fields);
        let dtype: String = seq.next_element()?.ok_or_else(|| short(0))?;
        let mut head = Head::new(&dtype)?;
        head.names = seq.next_element()?.ok_or_else(|| short(1))?;
        head.shape = seq.next_element()?.ok_or_else(|| short(2))?;
        seq.next_element_seed(head)?.ok_or_else(|| short(3))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<DynTensor, A::Error> {
        key(&mut map, "dtype")?;
        let mut head = Head::new(&map.next_value::<String>()?)?;
        key(&mut map, "names")?;
        head.names = map.next_value()?;
        key(&mut map, "shape")?;
        head.shape = map.next_value()?;
        key(&mut map, "values")?;
        let tensor = map.next_value_seed(head)?;
        match map.next_key::<String>()? {
            Some(more) => Err(de::Error::unknown_field(&more, FIELDS)),
            None => Ok(tensor),
        }
    }
}

/// Reads the next key, which must be that of `field`.
fn key<'de, A: MapAccess<'de>>(map: &mut A, field: &'static str) -> Result<(), A::Error> {
    match map.next_key::<String>()? {
        Some(key) if key == field => Ok(()),
        Some(key) => Err(de::Error::custom(format!(
            "expected `{field}`, found `{key}`: the fields of a tensor are {FIELDS:?}, in this order"
        ))),
        None => Err(de::Error::missing_field(field)),
    }
}

/// The fields before the elements.
struct Head {
    dtype: DType,
    names: Vec<Option<String>>,
    shape: Vec<usize>,
}

impl Head {
    fn new<E: de::Error>(dtype: &str) -> Result<Self, E> {
        Ok(Self {
            dtype: dtype.parse().map_err(E::custom)?,
            names: Vec::new(),
            shape: Vec::new(),
        })
    }
}

impl<'de> DeserializeSeed<'de> for Head {
    type Value = DynTensor;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<DynTensor, D::Error> {
        let names: Vec<Option<&str>> = self.names.iter().map(Option::as_deref).collect();
        with_dtype!(self.dtype, T => {
            let values = deserializer.deserialize_seq(Values::<T>(PhantomData))?;
            DynTensor::from_vec(values, &self.shape, &names[..])
        })
        .map_err(de::Error::custom)
    }
}

/// Reads elements.
struct Values<T>(PhantomData<T>);

impl<'de, T: SerdeElement> Visitor<'de> for Values<T> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "elements of dtype {}", T::DTYPE)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Vec<T>, A::Error> {
        // Allocates for elements that have arrived, not for the announced number, which may be
        // wrong.
        let mut values = Vec::new();
        while let Some(form) = seq.next_element()? {
            if values.len() == values.capacity() {
                let more = values.len().max(1024);
                values.try_reserve(more).map_err(de::Error::custom)?;
            }
            values.push(T::from_form(form));
        }
        Ok(values)
    }
}
