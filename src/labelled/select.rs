//! Selections among the labels of a dim, and the dims that remain.

use std::ops::{Bound, Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

use nomina_core::dims::{At, Axis, DimList, Dims, HasLabels, Label, Metric};

use super::any::Located;
use super::found::Found;
use super::labels::Labels;
use super::selection::{AtLabel, NearestLabel};
use super::time::{AsDate, Timestamp};

/// A selection among labels of type `L` along dim `X`: a label, a range, a list, [`at`](super::at), [`nearest`](super::nearest), a part of a date.
#[diagnostic::on_unimplemented(
    message = "labels of dim `{X}` are of type `{L}`, and `{Self}` does not select among them",
    label = "expected a `{L}`, a range or a list of them, `at(..)` or `nearest(..)`"
)]
pub trait Selects<L: Label, X: Axis> {
    /// The dims that remain of `D`: one label removes the dim, ranges and lists keep it.
    type Out<D: Dims>: Dims;

    /// Returns the positions of the selection.
    ///
    /// # Errors
    /// If a label is missing; the text continues a sentence that begins with the dim's name.
    fn find(&self, labels: &Labels<L>) -> Found<Located>;
}

/// A selection that keeps the dim, as the fields of a dataset need it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` removes the dim, and fields of a dataset keep their types",
    label = "a range or a list is needed here",
    note = "select on one field, `c.temperature.sel(..)`, or keep the dim: `sel(Lat, [52.5])`"
)]
pub trait KeepsDim {}

/// A value that can be written for a label of type `L`.
pub trait AsLabel<L: Label> {
    /// Returns the first label of the value.
    ///
    /// # Errors
    /// If the value is not a label.
    fn first(&self) -> Found<L>;

    /// Returns the last label of the value: the end of a part of a date.
    ///
    /// # Errors
    /// If the value is not a label.
    fn last(&self) -> Found<L> {
        self.first()
    }
}

macro_rules! as_labels {
    ($($t:ty => $l:ty, |$v:ident| $label:expr;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl AsLabel<$l> for $t {
            fn first(&self) -> Found<$l> {
                let $v = self;
                Ok($label)
            }
        }
        // One label, bare: the dim goes, as with a number in `x.at(N.i(0))`.
        #[diagnostic::do_not_recommend]
        impl<X: Axis> Selects<$l, X> for $t {
            type Out<D: Dims> = <D as DimList>::Remove<X>;
            fn find(&self, labels: &Labels<$l>) -> Found<Located> {
                labels.position(&AsLabel::<$l>::first(self)?).map(Located::One)
            }
        }
    )*};
}
as_labels! {
    f64 => f64, |v| *v;
    f32 => f32, |v| *v;
    i64 => i64, |v| *v;
    i32 => i64, |v| i64::from(*v);
    &str => String, |v| (*v).to_owned();
    String => String, |v| v.clone();
    &String => String, |v| (*v).clone();
}

#[diagnostic::do_not_recommend]
impl<T: AsDate> AsLabel<Timestamp> for T {
    fn first(&self) -> Found<Timestamp> {
        self.span().map(|span| span.0)
    }
    fn last(&self) -> Found<Timestamp> {
        self.span().map(|span| span.1)
    }
}

/// One instant: the dim goes.
#[diagnostic::do_not_recommend]
impl<X: Axis> Selects<Timestamp, X> for Timestamp {
    type Out<D: Dims> = <D as DimList>::Remove<X>;
    fn find(&self, labels: &Labels<Timestamp>) -> Found<Located> {
        labels.position(self).map(Located::One)
    }
}

/// A part of a date keeps the dim: all labels within it.
#[diagnostic::do_not_recommend]
impl<X: Axis> Selects<Timestamp, X> for &str {
    type Out<D: Dims> = D;
    fn find(&self, labels: &Labels<Timestamp>) -> Found<Located> {
        let (from, to) = self.span()?;
        let found = labels.range(from..=to)?;
        if found.is_empty() {
            return Err(format!("has no label within {self:?}"));
        }
        Ok(Located::Range(found))
    }
}
#[diagnostic::do_not_recommend]
impl KeepsDim for &str {}

/// The word of a dim whose labels rustc knows: `sel(Rgb, Rgb::R)`.
#[diagnostic::do_not_recommend]
impl<X: Axis> Selects<String, X> for At<X> {
    type Out<D: Dims> = <D as DimList>::Remove<X>;
    fn find(&self, labels: &Labels<String>) -> Found<Located> {
        match usize::try_from(self.index) {
            Ok(at) if at < labels.len() => Ok(Located::One(at)),
            _ => Err(format!(
                "has {} labels, and this is number {}",
                labels.len(),
                self.index
            )),
        }
    }
}

#[diagnostic::do_not_recommend]
impl<V: AsLabel<L>, L: Label, X: Axis> Selects<L, X> for AtLabel<V> {
    type Out<D: Dims> = <D as DimList>::Remove<X>;
    fn find(&self, labels: &Labels<L>) -> Found<Located> {
        labels.position(&self.label.first()?).map(Located::One)
    }
}
#[diagnostic::do_not_recommend]
impl<V: AsLabel<L>, L: Metric, X: Axis> Selects<L, X> for NearestLabel<V> {
    type Out<D: Dims> = <D as DimList>::Remove<X>;
    fn find(&self, labels: &Labels<L>) -> Found<Located> {
        labels
            .nearest(&self.label.first()?, self.tolerance)
            .map(Located::One)
    }
}

macro_rules! ranges {
    ($($range:ident |$r:ident| $from:expr, $to:expr;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<V> KeepsDim for $range<V> {}
        #[diagnostic::do_not_recommend]
        impl<V: AsLabel<L>, L: Label, X: Axis> Selects<L, X> for $range<V> {
            type Out<D: Dims> = D;
            fn find(&self, labels: &Labels<L>) -> Found<Located> {
                let $r = self;
                let range: (Bound<L>, Bound<L>) = ($from, $to);
                labels.range(range).map(Located::Range)
            }
        }
    )*};
}
ranges! {
    Range |r| Bound::Included(r.start.first()?), Bound::Excluded(r.end.first()?);
    RangeInclusive |r| Bound::Included(r.start().first()?), Bound::Included(r.end().last()?);
    RangeFrom |r| Bound::Included(r.start.first()?), Bound::Unbounded;
    RangeTo |r| Bound::Unbounded, Bound::Excluded(r.end.first()?);
    RangeToInclusive |r| Bound::Unbounded, Bound::Included(r.end.last()?);
}

#[diagnostic::do_not_recommend]
impl KeepsDim for RangeFull {}
#[diagnostic::do_not_recommend]
impl<L: Label, X: Axis> Selects<L, X> for RangeFull {
    type Out<D: Dims> = D;
    fn find(&self, labels: &Labels<L>) -> Found<Located> {
        Ok(Located::Range(0..labels.len()))
    }
}

macro_rules! lists {
    ($([$($generics:tt)*] $list:ty;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<V, $($generics)*> KeepsDim for $list {}
        #[diagnostic::do_not_recommend]
        impl<V: AsLabel<L>, L: Label, X: Axis, $($generics)*> Selects<L, X> for $list {
            type Out<D: Dims> = D;
            fn find(&self, labels: &Labels<L>) -> Found<Located> {
                let positions = self.iter().map(|label| labels.position(&label.first()?));
                positions.collect::<Found<_>>().map(Located::List)
            }
        }
    )*};
}
lists! {
    [const N: usize] [V; N];
    [const N: usize] &[V; N];
    [] Vec<V>;
    [] &[V];
}

/// The dims that a selection `S` along dim `X` leaves of `D`.
pub type SelectedBy<D, X, S> = <S as Selects<<X as HasLabels>::Label, X>>::Out<D>;

/// An index along a dim: a number, which removes it, a range or a list, which keep it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a position along dim `{X}`",
    label = "expected a number, a range or a list of positions"
)]
pub trait SelectsPositions<X: Axis> {
    /// The dims that remain of `D`.
    type Out<D: Dims>: Dims;

    /// Returns the positions along a dim of this size.
    ///
    /// # Errors
    /// If a position is out of range.
    fn find(&self, size: usize) -> Found<Located>;
}

/// Returns a position that counts from the end if it is negative.
fn wrapped(at: i64, size: usize) -> Found<usize> {
    let wrapped = if at < 0 { at + size as i64 } else { at };
    match usize::try_from(wrapped) {
        Ok(found) if found < size => Ok(found),
        _ => Err(format!(
            "has size {size}, and position {at} is out of range"
        )),
    }
}

/// Returns an end of a range, like a slice of Python: ends beyond the dim are cut.
fn cut(at: i64, size: usize) -> usize {
    let wrapped = if at < 0 { at + size as i64 } else { at };
    usize::try_from(wrapped).unwrap_or(0).min(size)
}

macro_rules! positions {
    ($($t:ty)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<X: Axis> SelectsPositions<X> for $t {
            type Out<D: Dims> = <D as DimList>::Remove<X>;
            fn find(&self, size: usize) -> Found<Located> {
                wrapped(*self as i64, size).map(Located::One)
            }
        }
    )*};
}
positions!(i32 i64 usize);

#[diagnostic::do_not_recommend]
impl<X: Axis> SelectsPositions<X> for At<X> {
    type Out<D: Dims> = <D as DimList>::Remove<X>;
    fn find(&self, size: usize) -> Found<Located> {
        wrapped(self.index, size).map(Located::One)
    }
}

macro_rules! position_ranges {
    ($($range:ident |$r:ident| $from:expr, $to:expr;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<X: Axis, I: Copy + TryInto<i64>> SelectsPositions<X> for $range<I> {
            type Out<D: Dims> = D;
            fn find(&self, size: usize) -> Found<Located> {
                let $r = self;
                let end = |i: Option<I>, open: usize| i.map_or(open, |i| cut(i.try_into().unwrap_or(i64::MAX), size));
                let (from, to) = (end($from, 0), end($to, size));
                Ok(Located::Range(from..to.max(from)))
            }
        }
    )*};
}
position_ranges! {
    Range |r| Some(r.start), Some(r.end);
    RangeFrom |r| Some(r.start), None;
    RangeTo |r| None, Some(r.end);
}

#[diagnostic::do_not_recommend]
impl<X: Axis> SelectsPositions<X> for RangeFull {
    type Out<D: Dims> = D;
    fn find(&self, size: usize) -> Found<Located> {
        Ok(Located::Range(0..size))
    }
}

macro_rules! position_lists {
    ($([$($generics:tt)*] $list:ty;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<X: Axis, I: Copy + TryInto<i64>, $($generics)*> SelectsPositions<X> for $list {
            type Out<D: Dims> = D;
            fn find(&self, size: usize) -> Found<Located> {
                let each = self.iter().map(|i| wrapped((*i).try_into().unwrap_or(i64::MAX), size));
                each.collect::<Found<_>>().map(Located::List)
            }
        }
    )*};
}
position_lists! {
    [const N: usize] [I; N];
    [] Vec<I>;
    [] &[I];
}
