//! Labels whose type is known at run time only.

use std::any::Any;
use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

use nomina_core::dims::{LabelType, LabelValue};

use super::found::Found;
use super::selection::Selection;

/// The positions along a dim that a selection found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Located {
    /// One position, which removes the dim.
    One(usize),
    /// Consecutive positions.
    Range(Range<usize>),
    /// Positions in any order.
    List(Vec<usize>),
}

/// The first difference of two lists of labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Difference {
    /// The labels at this position differ.
    At(usize),
    /// One list is the beginning of the other.
    Length,
    /// The labels have different types.
    Type,
}

/// How [`reindex`](super::Labelled::reindex) treats wanted labels that a dim lacks.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[non_exhaustive]
pub enum Fill {
    /// Elements are missing: NaN.
    #[default]
    Missing,
    /// The element at the nearest label that is at most this far away.
    Nearest(f64),
    /// The element at the greatest smaller label (pandas: `pad`).
    Before,
    /// The element at the smallest greater label (pandas: `backfill`).
    After,
}

/// [`Labels`](super::Labels) without their type.
///
/// [`as_any`](Self::as_any) leads back to the type: `any.as_any().downcast_ref::<Labels<f64>>()`.
pub trait AnyLabels: Debug + Send + Sync {
    /// Returns the labels for a downcast.
    fn as_any(&self) -> &dyn Any;
    /// Returns the number of labels.
    fn len(&self) -> usize;
    /// Returns whether there are no labels.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Returns the type of the labels.
    fn label_type(&self) -> LabelType;
    /// Returns the text of a label.
    ///
    /// # Panics
    /// If the position is out of range.
    fn text(&self, at: usize) -> String;
    /// Returns a label as a value.
    ///
    /// # Panics
    /// If the position is out of range.
    fn value(&self, at: usize) -> LabelValue;
    /// Returns the first difference, or `None` if all labels are equal.
    fn first_difference(&self, other: &dyn AnyLabels) -> Option<Difference>;
    /// Returns the labels of consecutive positions.
    ///
    /// # Panics
    /// If a position is out of range.
    fn slice(&self, range: Range<usize>) -> Arc<dyn AnyLabels>;
    /// Returns the labels at these positions.
    ///
    /// # Panics
    /// If a position is out of range.
    fn take(&self, positions: &[usize]) -> Arc<dyn AnyLabels>;
    /// Returns the positions of a selection.
    ///
    /// # Errors
    /// If labels are missing or of another type; the text continues a sentence that begins with the dim's name.
    fn find(&self, selection: &Selection) -> Found<Located>;
    /// Returns the distance of each label from the first label of `origin`, or of its own first; `None` without distances.
    fn offsets(&self, origin: Option<&dyn AnyLabels>) -> Option<Vec<f64>>;
    /// Returns the positions in rising order of labels; equal labels keep their order.
    fn rising(&self) -> Vec<usize>;
    /// Returns the position of each label of `target`.
    ///
    /// # Errors
    /// If the types differ, a label is repeated, or `fill` needs labels that rise or fall.
    fn indexer(&self, target: &dyn AnyLabels, fill: Fill) -> Found<Vec<Option<usize>>>;
    /// Returns these labels followed by others.
    ///
    /// # Errors
    /// If the types differ.
    fn append(&self, others: &[&dyn AnyLabels]) -> Found<Arc<dyn AnyLabels>>;
    /// Returns the group of each position, and the label of each group in rising order.
    fn groups(&self) -> (Vec<i64>, Arc<dyn AnyLabels>);
}

impl Located {
    /// Returns the labels at these positions; none for a single one.
    pub(super) fn labels_in(&self, labels: &dyn AnyLabels) -> Option<Arc<dyn AnyLabels>> {
        match self {
            Self::One(_) => None,
            Self::Range(range) => Some(labels.slice(range.clone())),
            Self::List(positions) => Some(labels.take(positions)),
        }
    }
}
