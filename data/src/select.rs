//! Selection by labels and by positions.

use std::cmp::Ordering;
use std::ops::{
    Bound, Range, RangeBounds, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive,
};

use nomina::{Error, ErrorKind, Result, Timestamp};

use crate::calendar::CfTime;
use crate::column::{Column, Label};

/// Positions along a dim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Positions {
    /// One position; the dim is removed.
    One(usize),
    /// A range.
    Range(Range<usize>),
    /// A list, in any order.
    List(Vec<usize>),
}

/// Labels along a dim: a label, a range, a list, or the nearest one.
///
/// Ranges go from the low to the high label, also where labels fall. A text on a dim of times is a date that may be
/// partial, and selects all times within it; any other single label removes the dim.
#[derive(Clone, Debug, PartialEq)]
pub enum Select {
    /// One label.
    At(Label),
    /// The nearest label within a tolerance; for times in nanoseconds.
    Nearest(Label, f64),
    /// A range.
    Range(Bound<Label>, Bound<Label>),
    /// A list.
    List(Vec<Label>),
}

/// Selects the nearest label, no farther away than `tolerance`; of two equally near ones the greater. Pass
/// `f64::INFINITY` for any distance; a distance of times is in nanoseconds.
#[must_use]
pub fn nearest(label: impl Into<Label>, tolerance: f64) -> Select {
    Select::Nearest(label.into(), tolerance)
}

macro_rules! labels {
    ($($from:ty, |$value:ident| $to:expr;)*) => {$(
        impl From<$from> for Label {
            fn from($value: $from) -> Self {
                $to
            }
        }
        impl From<$from> for Select {
            fn from(value: $from) -> Self {
                Self::At(value.into())
            }
        }
    )*};
}
labels! {
    f64, |value| Self::F64(value);
    i64, |value| Self::I64(value);
    i32, |value| Self::I64(value.into());
    &str, |value| Self::Text(value.to_owned());
    String, |value| Self::Text(value);
    Timestamp, |value| Self::Time(value);
    CfTime, |value| Self::CfTime(value);
}

macro_rules! ranges {
    ($($range:ident)*) => {$(
        impl<L: Into<Label> + Clone> From<$range<L>> for Select {
            fn from(range: $range<L>) -> Self {
                Self::Range(
                    range.start_bound().map(|label| label.clone().into()),
                    range.end_bound().map(|label| label.clone().into()),
                )
            }
        }
    )*};
}
ranges!(Range RangeFrom RangeInclusive RangeTo RangeToInclusive);

impl From<RangeFull> for Select {
    fn from(_: RangeFull) -> Self {
        Self::Range(Bound::Unbounded, Bound::Unbounded)
    }
}

impl<L: Into<Label>> From<Vec<L>> for Select {
    fn from(list: Vec<L>) -> Self {
        Self::List(list.into_iter().map(Into::into).collect())
    }
}

impl<L: Into<Label>, const N: usize> From<[L; N]> for Select {
    fn from(list: [L; N]) -> Self {
        Self::List(list.into_iter().map(Into::into).collect())
    }
}

/// A selection by positions, which may be resolved only with the size of the dim.
#[derive(Clone, Debug)]
pub enum Index {
    /// One position, from the end if negative; the dim is removed.
    At(i64),
    /// A range.
    Range(Bound<usize>, Bound<usize>),
    /// A list.
    List(Vec<i64>),
}

impl From<i64> for Index {
    fn from(at: i64) -> Self {
        Self::At(at)
    }
}

impl From<i32> for Index {
    fn from(at: i32) -> Self {
        Self::At(at.into())
    }
}

macro_rules! index_ranges {
    ($($range:ty)*) => {$(
        impl From<$range> for Index {
            fn from(range: $range) -> Self {
                Self::Range(range.start_bound().cloned(), range.end_bound().cloned())
            }
        }
    )*};
}
index_ranges!(Range<usize> RangeFrom<usize> RangeInclusive<usize> RangeTo<usize> RangeToInclusive<usize> RangeFull);

impl From<Vec<i64>> for Index {
    fn from(list: Vec<i64>) -> Self {
        Self::List(list)
    }
}

impl<const N: usize> From<[i64; N]> for Index {
    fn from(list: [i64; N]) -> Self {
        Self::List(list.into())
    }
}

pub(crate) fn refused(op: &'static str, dim: &str, what: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Argument, op, format!("dim `{dim}` {what}"))
}

impl Index {
    /// Resolves the selection for a dim of this size.
    pub(crate) fn resolve(&self, dim: &str, size: usize) -> Result<Positions> {
        let wrong = |what: String| {
            Error::new(
                ErrorKind::Index,
                "isel",
                format!("{what} is outside of dim `{dim}` of size {size}"),
            )
        };
        let position = |&at: &i64| {
            let from = if at < 0 {
                at.saturating_add_unsigned(size as u64)
            } else {
                at
            };
            let found = usize::try_from(from).ok().filter(|&at| at < size);
            found.ok_or_else(|| wrong(format!("position {at}")))
        };
        Ok(match self {
            Self::At(at) => Positions::One(position(at)?),
            Self::List(list) => Positions::List(list.iter().map(position).collect::<Result<_>>()?),
            Self::Range(from, to) => {
                let start = match from {
                    Bound::Included(start) => *start,
                    Bound::Excluded(start) => start.saturating_add(1),
                    Bound::Unbounded => 0,
                };
                let end = match to {
                    Bound::Included(end) => end.saturating_add(1),
                    Bound::Excluded(end) => *end,
                    Bound::Unbounded => size,
                };
                if start > end || end > size {
                    return Err(wrong(format!("range {start}..{end}")));
                }
                Positions::Range(start..end)
            }
        })
    }
}

impl Positions {
    /// Returns the number of positions.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::One(_) => 1,
            Self::Range(range) => range.len(),
            Self::List(list) => list.len(),
        }
    }

    /// Returns whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Iterates over the positions.
    pub fn iter(&self) -> Box<dyn Iterator<Item = usize> + '_> {
        match self {
            Self::One(at) => Box::new(std::iter::once(*at)),
            Self::Range(range) => Box::new(range.clone()),
            Self::List(list) => Box::new(list.iter().copied()),
        }
    }

    /// Selects among these positions.
    pub(crate) fn select(&self, then: &Self) -> Self {
        let all: Vec<usize>;
        let list = match self {
            Self::One(at) => return Self::One(*at),
            Self::Range(range) => match then {
                Self::One(at) => return Self::One(range.start + at),
                Self::Range(part) => {
                    return Self::Range(range.start + part.start..range.start + part.end);
                }
                Self::List(list) => {
                    return Self::List(list.iter().map(|at| range.start + at).collect());
                }
            },
            Self::List(list) => {
                all = then.iter().map(|at| list[at]).collect();
                all
            }
        };
        match then {
            Self::One(_) => Self::One(list[0]),
            _ => Self::List(list),
        }
    }
}

/// The first and the last label that a text means on a column.
fn span(column: &Column, text: &str) -> Result<(Label, Label)> {
    match column {
        Column::Time(_) => {
            // A date of ISO 8601, in the calendar of jiff.
            let (first, last) = CfTime::span(crate::Calendar::ProlepticGregorian, text)?;
            let out = || {
                Error::new(
                    ErrorKind::Argument,
                    "sel",
                    format!("{text} is out of range"),
                )
            };
            let first = first.to_timestamp().ok_or_else(out)?;
            let last = last.to_timestamp().ok_or_else(out)?;
            // To the nanosecond.
            let last = last.nanoseconds() + i64::from(last != first) * 999;
            Ok((
                Label::Time(first),
                Label::Time(Timestamp::from_nanoseconds(last)),
            ))
        }
        Column::CfTime(times) => {
            let calendar = times
                .first()
                .map_or_else(Default::default, CfTime::calendar);
            let (first, last) = CfTime::span(calendar, text)?;
            Ok((Label::CfTime(first), Label::CfTime(last)))
        }
        _ => Ok((Label::Text(text.to_owned()), Label::Text(text.to_owned()))),
    }
}

impl Select {
    /// Finds the labels among those of a dim.
    pub(crate) fn find(&self, dim: &str, column: &Column) -> Result<Positions> {
        let op = "sel";
        let low = |label: &Label| match label {
            Label::Text(text) => span(column, text).map(|span| span.0),
            label => Ok(label.clone()),
        };
        let high = |label: &Label| match label {
            Label::Text(text) => span(column, text).map(|span| span.1),
            label => Ok(label.clone()),
        };
        let is_time = matches!(column, Column::Time(_) | Column::CfTime(_));
        match self {
            Self::At(label @ Label::Text(text)) if is_time => {
                let found = range(
                    dim,
                    column,
                    Bound::Included(low(label)?),
                    Bound::Included(high(label)?),
                )?;
                if found.is_empty() {
                    return Err(refused(
                        op,
                        dim,
                        format!("has no label in {text}; {}", extent(column)),
                    ));
                }
                Ok(found)
            }
            Self::At(label) => exact(dim, column, label).map(Positions::One),
            Self::List(list) => {
                let positions = list.iter().map(|label| exact(dim, column, &low(label)?));
                positions.collect::<Result<_>>().map(Positions::List)
            }
            Self::Range(from, to) => {
                let from = match from {
                    Bound::Included(label) => Bound::Included(low(label)?),
                    Bound::Excluded(label) => Bound::Excluded(high(label)?),
                    Bound::Unbounded => Bound::Unbounded,
                };
                let to = match to {
                    Bound::Included(label) => Bound::Included(high(label)?),
                    Bound::Excluded(label) => Bound::Excluded(low(label)?),
                    Bound::Unbounded => Bound::Unbounded,
                };
                range(dim, column, from, to)
            }
            Self::Nearest(label, tolerance) => {
                let label = low(label)?;
                let mut best: Option<(usize, f64)> = None;
                for at in 0..column.len() {
                    let Some(distance) = column.distance(at, &label) else {
                        return Err(other_type(dim, column, &label));
                    };
                    let is_better =
                        best.is_none_or(|(old, least)| match distance.total_cmp(&least) {
                            Ordering::Less => true,
                            Ordering::Equal => {
                                column.get(old).and_then(|old| column.compare(at, &old))
                                    == Some(Ordering::Greater)
                            }
                            Ordering::Greater => false,
                        });
                    if is_better {
                        best = Some((at, distance));
                    }
                }
                match best {
                    Some((at, distance)) if distance <= *tolerance => Ok(Positions::One(at)),
                    Some((at, _)) => {
                        let what = format!(
                            "has no label within {tolerance} of {}; the nearest is {}",
                            label.show(),
                            column.show(at)
                        );
                        Err(refused(op, dim, what))
                    }
                    None => Err(refused(op, dim, "has no labels")),
                }
            }
        }
    }
}

fn extent(column: &Column) -> String {
    match column.len() {
        0 => "there are none".to_owned(),
        len => format!(
            "labels go from {} to {}",
            column.show(0),
            column.show(len - 1)
        ),
    }
}

fn other_type(dim: &str, column: &Column, label: &Label) -> Error {
    let what = format!(
        "has labels of type {}, and {label:?} is none of them",
        column.type_name()
    );
    refused("sel", dim, what)
}

fn exact(dim: &str, column: &Column, label: &Label) -> Result<usize> {
    let mut found = None;
    for at in 0..column.len() {
        match column.compare(at, label) {
            None => return Err(other_type(dim, column, label)),
            Some(Ordering::Equal) => match found {
                None => found = Some(at),
                Some(first) => {
                    let what = format!(
                        "has label {} more than once, at {first} and {at}",
                        label.show()
                    );
                    return Err(refused("sel", dim, what).hint("select by position: `isel`"));
                }
            },
            Some(_) => {}
        }
    }
    found.ok_or_else(|| {
        let what = format!(
            "has no label {}; {}",
            label.show(),
            neighbours(column, label)
        );
        refused("sel", dim, what).hint("select the nearest label: `nearest(label, tolerance)`")
    })
}

/// Describes the labels around a missing one.
fn neighbours(column: &Column, label: &Label) -> String {
    if column.order().is_none() {
        return extent(column);
    }
    let is_between = |&at: &usize| {
        let (a, b) = (column.compare(at, label), column.compare(at + 1, label));
        a.is_some() && a.map(Ordering::reverse) == b
    };
    match (0..column.len().saturating_sub(1)).find(is_between) {
        Some(at) => format!(
            "its neighbours are {} and {}",
            column.show(at),
            column.show(at + 1)
        ),
        None => extent(column),
    }
}

fn range(dim: &str, column: &Column, from: Bound<Label>, to: Bound<Label>) -> Result<Positions> {
    let Some(order) = column.order() else {
        let what =
            "has labels that neither rise nor fall, so a range of them is no range of positions";
        return Err(refused("sel", dim, what).hint("select a list of labels, or sort them first"));
    };
    let test = |at: usize, bound: &Bound<Label>, outer: Ordering| match bound {
        Bound::Unbounded => Ok(true),
        Bound::Included(label) | Bound::Excluded(label) => match column.compare(at, label) {
            None => Err(other_type(dim, column, label)),
            Some(Ordering::Equal) => Ok(matches!(bound, Bound::Included(_))),
            Some(found) => Ok(found == outer),
        },
    };
    let mut inside = Vec::with_capacity(column.len());
    for at in 0..column.len() {
        inside.push(test(at, &from, Ordering::Greater)? && test(at, &to, Ordering::Less)?);
    }
    let _ = order;
    let start = inside.iter().position(|&is| is).unwrap_or(0);
    let len = inside[start..].iter().take_while(|&&is| is).count();
    Ok(Positions::Range(start..start + len))
}
