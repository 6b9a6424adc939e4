//! The labels along a dim.

use std::cmp::Ordering;

use nomina::{DType, DynTensor, Result, Timestamp};

use crate::calendar::CfTime;

/// The labels along a dim, or the values of a variable that is no tensor, in row-major order.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Column {
    /// Floats. Those that a file has in `f32` are widened through their shortest decimal: `0.1` stays `0.1`.
    F64(Vec<f64>),
    /// Integers.
    I64(Vec<i64>),
    /// Texts.
    Text(Vec<String>),
    /// Times of real clocks from 1678 to 2262, in UTC.
    Time(Vec<Timestamp>),
    /// Times of a calendar.
    CfTime(Vec<CfTime>),
}

/// A single label.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Label {
    /// A float.
    F64(f64),
    /// An integer.
    I64(i64),
    /// A text; on times a date, such as `2007-02`.
    Text(String),
    /// A time of real clocks.
    Time(Timestamp),
    /// A time of a calendar.
    CfTime(CfTime),
}

/// Evaluates one expression for the values of any column.
macro_rules! each {
    ($column:expr, $values:ident => $result:expr) => {
        match $column {
            Column::F64($values) => $result,
            Column::I64($values) => $result,
            Column::Text($values) => $result,
            Column::Time($values) => $result,
            Column::CfTime($values) => $result,
        }
    };
}

impl Column {
    /// Returns the number of labels.
    #[must_use]
    pub fn len(&self) -> usize {
        each!(self, values => values.len())
    }

    /// Returns whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the name of the label type in `dims!`, such as `f64`.
    #[must_use]
    pub const fn type_name(&self) -> &'static str {
        match self {
            Self::F64(_) => "f64",
            Self::I64(_) => "i64",
            Self::Text(_) => "String",
            Self::Time(_) => "Timestamp",
            Self::CfTime(_) => "CfTime",
        }
    }

    /// Returns a label, if there is one at the position.
    #[must_use]
    pub fn get(&self, at: usize) -> Option<Label> {
        Some(match self {
            Self::F64(values) => Label::F64(*values.get(at)?),
            Self::I64(values) => Label::I64(*values.get(at)?),
            Self::Text(values) => Label::Text(values.get(at)?.clone()),
            Self::Time(values) => Label::Time(*values.get(at)?),
            Self::CfTime(values) => Label::CfTime(*values.get(at)?),
        })
    }

    /// Returns the labels at these positions.
    ///
    /// # Panics
    /// If a position is out of range.
    #[must_use]
    pub fn take(&self, positions: impl Iterator<Item = usize>) -> Self {
        macro_rules! part {
            ($values:expr) => {
                positions.map(|at| $values[at].clone()).collect()
            };
        }
        match self {
            Self::F64(values) => Self::F64(part!(values)),
            Self::I64(values) => Self::I64(part!(values)),
            Self::Text(values) => Self::Text(part!(values)),
            Self::Time(values) => Self::Time(part!(values)),
            Self::CfTime(values) => Self::CfTime(part!(values)),
        }
    }

    /// Formats a label, as errors and tables show it.
    #[must_use]
    pub fn show(&self, at: usize) -> String {
        self.get(at)
            .map_or_else(|| "?".to_owned(), |label| label.show())
    }

    /// Compares a label with another; `None` if their types differ.
    pub(crate) fn compare(&self, at: usize, with: &Label) -> Option<Ordering> {
        match (self, with) {
            (Self::F64(values), Label::F64(label)) => Some(values[at].total_cmp(label)),
            (Self::I64(values), Label::I64(label)) => Some(values[at].cmp(label)),
            (Self::I64(values), Label::F64(label)) => Some((values[at] as f64).total_cmp(label)),
            (Self::F64(values), Label::I64(label)) => Some(values[at].total_cmp(&(*label as f64))),
            (Self::Text(values), Label::Text(label)) => Some(values[at].cmp(label)),
            (Self::Time(values), Label::Time(label)) => Some(values[at].cmp(label)),
            (Self::CfTime(values), Label::CfTime(label)) => values[at].partial_cmp(label),
            _ => None,
        }
    }

    /// Returns the distance from a label to another: in nanoseconds for times. `None` if labels have no distance.
    pub(crate) fn distance(&self, at: usize, from: &Label) -> Option<f64> {
        match (self, from) {
            (Self::F64(values), Label::F64(label)) => Some((values[at] - label).abs()),
            (Self::F64(values), Label::I64(label)) => Some((values[at] - *label as f64).abs()),
            (Self::I64(values), Label::I64(label)) => Some(values[at].abs_diff(*label) as f64),
            (Self::I64(values), Label::F64(label)) => Some((values[at] as f64 - label).abs()),
            (Self::Time(values), Label::Time(label)) => {
                Some(values[at].nanoseconds().abs_diff(label.nanoseconds()) as f64)
            }
            (Self::CfTime(values), Label::CfTime(label))
                if values[at].calendar() == label.calendar() =>
            {
                Some((values[at] - *label).as_nanos().unsigned_abs() as f64)
            }
            _ => None,
        }
    }

    /// Returns whether labels strictly rise, or strictly fall.
    pub(crate) fn order(&self) -> Option<Ordering> {
        let pair = |at: usize| self.get(at + 1).and_then(|next| self.compare(at, &next));
        let mut pairs = (0..self.len().saturating_sub(1)).map(pair);
        let first = match pairs.next() {
            None => return Some(Ordering::Less),
            Some(first) => first?,
        };
        (first.is_ne() && pairs.all(|pair| pair == Some(first))).then_some(first)
    }

    /// Converts a tensor of one dim to labels: floats to `f64`, integers to `i64`.
    pub(crate) fn from_tensor(tensor: &DynTensor) -> Result<Self> {
        Ok(match tensor.dtype() {
            DType::F32 => {
                let values = tensor.to_vec::<f32>()?;
                Self::F64(values.into_iter().map(widen).collect())
            }
            dtype if dtype.is_float() => Self::F64(tensor.to_dtype(DType::F64)?.to_vec()?),
            _ => Self::I64(tensor.to_dtype(DType::I64)?.to_vec()?),
        })
    }
}

/// Widens an `f32` through its shortest decimal.
pub(crate) fn widen(value: f32) -> f64 {
    if value.is_finite() {
        value.to_string().parse().unwrap_or(value.into())
    } else {
        value.into()
    }
}

impl Label {
    /// Formats the label: floats in their shortest form, times without a time of day if it is midnight.
    #[must_use]
    pub fn show(&self) -> String {
        let without_midnight = |text: String| match text.strip_suffix("00:00:00") {
            Some(date) => date.trim_end_matches(['T', ' ']).to_owned(),
            None => text,
        };
        match self {
            Self::F64(value) => value.to_string(),
            Self::I64(value) => value.to_string(),
            Self::Text(text) => text.clone(),
            Self::Time(at) => without_midnight(at.to_string().trim_end_matches('Z').to_owned()),
            Self::CfTime(at) => without_midnight(at.to_string()),
        }
    }
}
