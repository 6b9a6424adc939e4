//! Serialisation of tensors with `serde`: dtype, names, sizes, and the elements in row-major order.
//!
//! `{"dtype":"float32","names":["N",null],"shape":[1,2],"values":[0.5,1.0]}` in JSON, where keys are read in any
//! order: elements that come before their dtype are kept as numbers until it is known. Formats without keys have the
//! fields in this order. 16-bit floats are written as `f32`, complex numbers as pairs.

use std::fmt;
use std::marker::PhantomData;

use half::{bf16, f16};
use nomina_core::{DType, Element, Name};
use num_complex::Complex;
use serde::de::value::SeqDeserializer;
use serde::de::{
    self, DeserializeOwned, DeserializeSeed, IntoDeserializer, MapAccess, SeqAccess, Visitor,
};
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
        f.write_str("a tensor: its dtype, names, shape and values")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<DynTensor, A::Error> {
        let short = |at| de::Error::invalid_length(at, &Fields);
        let dtype = seq.next_element::<String>()?.ok_or_else(|| short(0))?;
        let names = seq.next_element()?.ok_or_else(|| short(1))?;
        let shape = seq.next_element()?.ok_or_else(|| short(2))?;
        let values = seq.next_element_seed(Elements::new::<A::Error>(&dtype)?)?;
        tensor(values.ok_or_else(|| short(3))?, names, shape)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<DynTensor, A::Error> {
        let (mut dtype, mut names, mut shape, mut values) = (None, None, None, None);
        let mut early: Option<Vec<Number>> = None;
        while let Some(key) = map.next_key::<String>()? {
            let known: Option<Elements> = dtype;
            match (&*key, known) {
                ("dtype", _) => {
                    let word: String = map.next_value()?;
                    set::<_, A::Error>(&mut dtype, "dtype", Elements::new::<A::Error>(&word)?)?;
                }
                ("names", _) => set::<_, A::Error>(&mut names, "names", map.next_value()?)?,
                ("shape", _) => set::<_, A::Error>(&mut shape, "shape", map.next_value()?)?,
                ("values", Some(dtype)) => {
                    set::<_, A::Error>(&mut values, "values", map.next_value_seed(dtype)?)?
                }
                ("values", None) => set::<_, A::Error>(&mut early, "values", map.next_value()?)?,
                _ => return Err(de::Error::unknown_field(&key, FIELDS)),
            }
        }
        let dtype = dtype.ok_or_else(|| de::Error::missing_field("dtype"))?;
        if let Some(early) = early {
            let early = SeqDeserializer::<_, A::Error>::new(early.into_iter());
            set::<_, A::Error>(&mut values, "values", dtype.deserialize(early)?)?;
        }
        let names = names.ok_or_else(|| de::Error::missing_field("names"))?;
        let shape = shape.ok_or_else(|| de::Error::missing_field("shape"))?;
        let values = values.ok_or_else(|| de::Error::missing_field("values"))?;
        tensor(values, names, shape)
    }
}

/// Sets a field that must not be set yet.
fn set<T, E: de::Error>(field: &mut Option<T>, name: &'static str, value: T) -> Result<(), E> {
    match field.replace(value) {
        Some(_) => Err(E::duplicate_field(name)),
        None => Ok(()),
    }
}

/// Creates a tensor from its elements, given its sizes and names.
type Build = Box<dyn FnOnce(&[usize], &[Option<&str>]) -> nomina_core::Result<DynTensor>>;

fn tensor<E: de::Error>(
    build: Build,
    names: Vec<Option<String>>,
    shape: Vec<usize>,
) -> Result<DynTensor, E> {
    let names: Vec<Option<&str>> = names.iter().map(Option::as_deref).collect();
    build(&shape, &names).map_err(E::custom)
}

/// Reads the elements of a dtype.
#[derive(Clone, Copy)]
struct Elements(DType);

impl Elements {
    fn new<E: de::Error>(dtype: &str) -> Result<Self, E> {
        dtype.parse().map(Self).map_err(E::custom)
    }
}

impl<'de> DeserializeSeed<'de> for Elements {
    type Value = Build;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Build, D::Error> {
        with_dtype!(self.0, T => {
            let values = deserializer.deserialize_seq(Values::<T>(PhantomData))?;
            Ok(Box::new(move |shape: &[usize], names: &[Option<&str>]| {
                DynTensor::from_vec(values, shape, names)
            }) as Build)
        })
    }
}

/// An element that was read before its dtype.
enum Number {
    Bool(bool),
    Int(i64),
    Float(f64),
    Pair([f64; 2]),
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberVisitor)
    }
}

struct NumberVisitor;

impl<'de> Visitor<'de> for NumberVisitor {
    type Value = Number;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an element of a tensor")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Number, E> {
        Ok(Number::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Number, E> {
        Ok(Number::Int(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Number, E> {
        Ok(i64::try_from(value).map_or(Number::Float(value as f64), Number::Int))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Number, E> {
        Ok(Number::Float(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Number, A::Error> {
        let parts = (
            seq.next_element()?,
            seq.next_element()?,
            seq.next_element::<f64>()?,
        );
        match parts {
            (Some(re), Some(im), None) => Ok(Number::Pair([re, im])),
            _ => Err(de::Error::invalid_length(0, &"a pair of numbers")),
        }
    }

    /// Reads a number of `serde_json` with its feature `arbitrary_precision`, which is a map.
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Number, A::Error> {
        let entry = map.next_entry::<String, String>()?;
        let text = entry.filter(|(key, _)| key == "$serde_json::private::Number");
        let text = text
            .ok_or_else(|| de::Error::invalid_type(de::Unexpected::Map, &self))?
            .1;
        match (text.parse(), text.parse()) {
            (Ok(value), _) => Ok(Number::Int(value)),
            (_, Ok(value)) => Ok(Number::Float(value)),
            _ => Err(de::Error::invalid_value(de::Unexpected::Str(&text), &self)),
        }
    }
}

impl<'de, E: de::Error> IntoDeserializer<'de, E> for Number {
    type Deserializer = NumberDeserializer<E>;
    fn into_deserializer(self) -> NumberDeserializer<E> {
        NumberDeserializer(self, PhantomData)
    }
}

/// Passes an element on as one of its dtype.
struct NumberDeserializer<E>(Number, PhantomData<E>);

impl<'de, E: de::Error> Deserializer<'de> for NumberDeserializer<E> {
    type Error = E;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
        match self.0 {
            Number::Bool(value) => visitor.visit_bool(value),
            Number::Int(value) => visitor.visit_i64(value),
            Number::Float(value) => visitor.visit_f64(value),
            Number::Pair(value) => visitor.visit_seq(SeqDeserializer::new(value.into_iter())),
        }
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
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
