//! Selections whose type is known at run time.

use std::ops::{
    Bound, Range, RangeBounds, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive,
};

use nomina_core::dims::LabelValue;

use super::select::{AtLabel, NearestLabel};
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
