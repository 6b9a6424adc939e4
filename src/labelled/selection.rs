//! Selections whose type is known at run time.

use std::ops::{
    Bound, Range, RangeBounds, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive,
};

use nomina_core::dims::LabelValue;

use super::time::Timestamp;

/// A selection of labels along a dim, for [`DynLabelled::sel`](super::DynLabelled::sel).
///
/// A label, a range, a list, [`at`](super::at) and [`nearest`](super::nearest) convert to it.
#[derive(Clone, Debug, PartialEq)]
pub enum Selection {
    /// The element of a label; among dates, all elements within a part of a date: `"2020-01"`.
    One(LabelValue),
    /// The element of a label, also among dates.
    At(LabelValue),
    /// The element of the nearest label that is at most this far away.
    Nearest(LabelValue, f64),
    /// The elements within a range from low to high.
    Range(Bound<LabelValue>, Bound<LabelValue>),
    /// The elements of several labels, in this order.
    List(Vec<LabelValue>),
    /// All elements.
    All,
}

macro_rules! values {
    ($($t:ty)*) => {$(
        impl From<$t> for Selection {
            fn from(value: $t) -> Self {
                Self::One(value.into())
            }
        }
    )*};
}
values!(f64 f32 i64 i32 &str String Timestamp LabelValue);

fn owned<V: Clone + Into<LabelValue>>(bound: Bound<&V>) -> Bound<LabelValue> {
    bound.map(|value| value.clone().into())
}

macro_rules! ranges {
    ($($range:ident)*) => {$(
        impl<V: Clone + Into<LabelValue>> From<$range<V>> for Selection {
            fn from(range: $range<V>) -> Self {
                Self::Range(owned(range.start_bound()), owned(range.end_bound()))
            }
        }
    )*};
}
ranges!(Range RangeInclusive RangeFrom RangeTo RangeToInclusive);

impl From<RangeFull> for Selection {
    fn from(_: RangeFull) -> Self {
        Self::All
    }
}

impl<V: Into<LabelValue>, const N: usize> From<[V; N]> for Selection {
    fn from(labels: [V; N]) -> Self {
        Self::List(labels.map(Into::into).into())
    }
}

impl<V: Into<LabelValue>> From<Vec<V>> for Selection {
    fn from(labels: Vec<V>) -> Self {
        Self::List(labels.into_iter().map(Into::into).collect())
    }
}

impl<V: Into<LabelValue>> From<AtLabel<V>> for Selection {
    fn from(at: AtLabel<V>) -> Self {
        Self::At(at.label.into())
    }
}

impl<V: Into<LabelValue>> From<NearestLabel<V>> for Selection {
    fn from(nearest: NearestLabel<V>) -> Self {
        Self::Nearest(nearest.label.into(), nearest.tolerance)
    }
}

/// One label; from [`at`].
#[derive(Clone, Copy, Debug)]
pub struct AtLabel<V> {
    pub(super) label: V,
}

/// The nearest label; from [`nearest`].
#[derive(Clone, Copy, Debug)]
pub struct NearestLabel<V> {
    pub(super) label: V,
    pub(super) tolerance: f64,
}

/// Selects the element of one label and removes the dim, also among dates: `sel(Time, at("2020-01-31"))`.
pub fn at<V>(label: V) -> AtLabel<V> {
    AtLabel { label }
}

/// Selects the element of the nearest label and removes the dim; of two equally near ones, the greater.
/// [`within`](NearestLabel::within) limits the distance.
pub fn nearest<V>(label: V) -> NearestLabel<V> {
    NearestLabel {
        label,
        tolerance: f64::INFINITY,
    }
}

impl<V> NearestLabel<V> {
    /// Takes only labels that are at most this far away, in units of the label; times by a [`Duration`](std::time::Duration).
    #[must_use]
    pub fn within(self, tolerance: impl Tolerance) -> Self {
        Self {
            tolerance: tolerance.in_units(),
            ..self
        }
    }
}

/// A greatest distance between labels: a number, or a duration between times.
pub trait Tolerance {
    /// Returns the distance in units of the label; nanoseconds for times.
    fn in_units(self) -> f64;
}
impl Tolerance for f64 {
    fn in_units(self) -> f64 {
        self
    }
}
impl Tolerance for i32 {
    fn in_units(self) -> f64 {
        self.into()
    }
}
impl Tolerance for std::time::Duration {
    fn in_units(self) -> f64 {
        self.as_nanos() as f64
    }
}
