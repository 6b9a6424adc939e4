//! Labels along dims: their types, and which dims have them.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use core::cmp::Ordering;
use core::fmt::Debug;

use super::axis::Dim;

/// A dim whose elements have labels, declared with their type: `dims! { Lat: f64 }`.
#[diagnostic::on_unimplemented(
    message = "dim `{Self}` has no labels",
    label = "elements along `{Self}` have positions only",
    note = "declare the type of its labels, `dims! {{ {Self}: f64 }}`, or select by position: `isel({Self}, ..)`"
)]
pub trait HasLabels: Dim {
    /// The type of the labels.
    type Label: Label;
}

/// The type of labels that are words, for `dims!`.
#[doc(hidden)]
pub type Text = String;

/// A type of labels.
///
/// Labels have a total order, by which they are sorted and searched. Those that implement [`Metric`] have a distance, by
/// which the nearest is found.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a type of labels",
    label = "not a type of labels",
    note = "labels are `f64`, `f32`, `i64`, `String`, `Timestamp`, or a type that implements `Label`"
)]
pub trait Label: Clone + PartialEq + Debug + Send + Sync + 'static {
    /// The type as a value.
    const TYPE: LabelType;

    /// Compares two labels.
    fn compare(&self, other: &Self) -> Ordering;

    /// Returns the text of the label in errors and tables.
    fn to_text(&self) -> String;

    /// Returns the label as a value whose type is known at run time.
    fn to_value(&self) -> LabelValue;

    /// Returns the label of this value, or `None` if there is none of this type.
    fn from_value(value: &LabelValue) -> Option<Self>;

    /// The factor from a [`difference`](Self::difference) to the unit in which derivatives and integrals count: 1e-9 for
    /// times, whose differences are nanoseconds, and derivatives those by seconds.
    const DERIVATIVE_UNIT: f64 = 1.0;

    /// Returns `self - origin` as a number, or `None` if labels of this type have no distance.
    fn difference(&self, origin: &Self) -> Option<f64> {
        let _ = origin;
        None
    }

    /// Returns the first and the last label within a part of a date, such as `"2020-01"`; `None` if the type has no dates.
    ///
    /// # Errors
    /// If the text is not a date.
    fn span(text: &str) -> Option<Result<(Self, Self), String>> {
        let _ = text;
        None
    }
}

/// Labels with a distance: numbers and times.
#[diagnostic::on_unimplemented(
    message = "labels of type `{Self}` have no distance",
    label = "neither nearest labels nor values between them",
    note = "numbers and times have distances"
)]
pub trait Metric: Label {}

/// The type of a dim's labels as a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LabelType {
    /// `f64`.
    F64,
    /// `f32`.
    F32,
    /// `i64`.
    I64,
    /// `String`.
    Text,
    /// `Timestamp`: nanoseconds since 1970, UTC.
    Timestamp,
    /// Words that are known to rustc, in order: `dims! { Rgb = { R, G, B } }`.
    Words(&'static [&'static str]),
    /// A type of another crate, by its name.
    Other(&'static str),
}

impl LabelType {
    /// Returns the name of the type, as `dims!` takes it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::F64 => "f64",
            Self::F32 => "f32",
            Self::I64 => "i64",
            Self::Text | Self::Words(_) => "String",
            Self::Timestamp => "Timestamp",
            Self::Other(name) => name,
        }
    }
}

/// A label whose type is known at run time.
#[derive(Clone, Debug, PartialEq)]
pub enum LabelValue {
    /// A floating-point number.
    Float(f64),
    /// An integer.
    Int(i64),
    /// Text; also a date.
    Text(String),
    /// Nanoseconds since 1970, UTC.
    Nanoseconds(i64),
}

impl LabelValue {
    /// Returns the text of the value in errors.
    #[must_use]
    pub fn to_text(&self) -> String {
        match self {
            Self::Float(v) => format!("{v:?}"),
            Self::Int(v) => format!("{v}"),
            Self::Text(v) => format!("{v:?}"),
            Self::Nanoseconds(v) => format!("{v} ns since 1970"),
        }
    }
}

macro_rules! into_values {
    ($($t:ty => |$v:ident| $value:expr;)*) => {$(
        impl From<$t> for LabelValue {
            fn from($v: $t) -> Self {
                $value
            }
        }
    )*};
}
into_values! {
    f64 => |v| Self::Float(v);
    f32 => |v| Self::Float(f64::from(v));
    i64 => |v| Self::Int(v);
    i32 => |v| Self::Int(v.into());
    &str => |v| Self::Text(v.to_owned());
    String => |v| Self::Text(v);
}

macro_rules! labels {
    ($($t:ident, $kind:ident, |$a:ident, $b:ident| $order:expr, $value:ident, $from:pat => $to:expr $(, $difference:expr)?;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl Label for $t {
            const TYPE: LabelType = LabelType::$kind;
            fn compare(&self, other: &Self) -> Ordering {
                let ($a, $b) = (self, other);
                $order
            }
            fn to_text(&self) -> String {
                format!("{self:?}")
            }
            fn to_value(&self) -> LabelValue {
                LabelValue::$value(self.clone().into())
            }
            fn from_value(value: &LabelValue) -> Option<Self> {
                match value {
                    $from => $to,
                    _ => None,
                }
            }
            $(fn difference(&self, origin: &Self) -> Option<f64> {
                let ($a, $b) = (self, origin);
                Some($difference)
            })?
        }
    )*};
}
labels! {
    f64, F64, |a, b| a.total_cmp(b), Float, LabelValue::Float(v) => Some(*v), a - b;
    f32, F32, |a, b| a.total_cmp(b), Float, LabelValue::Float(v) => Some(*v as f32), f64::from(*a) - f64::from(*b);
    i64, I64, |a, b| a.cmp(b), Int, LabelValue::Int(v) => Some(*v), (i128::from(*a) - i128::from(*b)) as f64;
    String, Text, |a, b| a.cmp(b), Text, LabelValue::Text(v) => Some(v.clone());
}
#[diagnostic::do_not_recommend]
impl Metric for f64 {}
#[diagnostic::do_not_recommend]
impl Metric for f32 {}
#[diagnostic::do_not_recommend]
impl Metric for i64 {}
