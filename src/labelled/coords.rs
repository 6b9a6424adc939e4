//! The labels of all dims of a tensor, and how those of two operands meet.

use std::sync::Arc;

use nomina_core::{Error, ErrorKind, Names, Result};
use smallvec::SmallVec;

use super::any::{AnyLabels, Difference, Located};

/// The labels along each dim of a tensor, by position. One pointer, so that labels that stay cost one count.
#[derive(Clone, Debug, Default)]
pub struct Coords(Option<Arc<[Option<Arc<dyn AnyLabels>>]>>);

pub(super) fn error(op: &'static str, what: impl Into<String>) -> Error {
    Error::new(ErrorKind::Label, op, what)
}

/// Returns the text of a difference along a dim.
pub(super) fn describe(a: &dyn AnyLabels, b: &dyn AnyLabels, difference: Difference) -> String {
    match difference {
        Difference::At(at) => format!(
            "the first difference is at {at}: {} and {}",
            a.text(at),
            b.text(at)
        ),
        Difference::Type => format!(
            "their types are {} and {}",
            a.label_type().name(),
            b.label_type().name()
        ),
        Difference::Length => format!(
            "there are {} and {}, equal as far as both go",
            a.len(),
            b.len()
        ),
    }
}

#[cold]
fn differ(
    op: &'static str,
    dim: &str,
    a: &dyn AnyLabels,
    b: &dyn AnyLabels,
    at: Difference,
) -> Error {
    let what = describe(a, b, at);
    error(op, format!("labels of the operands differ along dim `{dim}`: {what}")).hint(
        "labels never join silently: `y.reindex_like(&x)`, `inner(&x, &y)` or `outer(&x, &y)`, or `y.tensor()` to go by \
         position",
    )
}

impl Coords {
    /// Collects the labels of each dim.
    #[must_use]
    pub fn new(labels: Vec<Option<Arc<dyn AnyLabels>>>) -> Self {
        Self(labels.iter().any(Option::is_some).then(|| labels.into()))
    }

    /// Returns the labels of the dim at a position.
    #[must_use]
    pub fn get(&self, at: usize) -> Option<&Arc<dyn AnyLabels>> {
        self.0.as_ref()?.get(at)?.as_ref()
    }

    /// Returns whether no dim has labels.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Returns the labels of a tensor of `rank` dims with one replaced.
    #[must_use]
    pub fn with(&self, rank: usize, at: usize, labels: Option<Arc<dyn AnyLabels>>) -> Self {
        let mut all: Vec<_> = (0..rank).map(|i| self.get(i).cloned()).collect();
        all[at] = labels;
        Self::new(all)
    }

    /// Returns the labels of dims taken from these positions; none where that is `None`.
    #[must_use]
    pub fn moved(&self, from: impl IntoIterator<Item = Option<usize>>) -> Self {
        if self.is_empty() {
            return Self(None);
        }
        let labels = from.into_iter().map(|at| self.get(at?));
        let labels: SmallVec<[_; 8]> = labels.collect();
        // A slice has a known length, so the labels are collected in one allocation.
        let some = labels.iter().any(Option::is_some);
        Self(some.then(|| labels.iter().map(|labels| labels.cloned()).collect()))
    }

    /// Returns the labels after a selection along a dim.
    #[must_use]
    pub(super) fn selected(&self, rank: usize, at: usize, located: &Located) -> Self {
        match located {
            Located::One(_) => self.moved((0..rank).filter(|i| *i != at).map(Some)),
            _ => {
                let labels = self.get(at).and_then(|labels| located.labels_in(&**labels));
                if labels.is_none() {
                    return self.clone();
                }
                self.with(rank, at, labels)
            }
        }
    }

    /// Returns the labels of a reduction over these dims.
    #[must_use]
    pub(super) fn reduced(&self, rank: usize, dims: &[usize], all: bool, keepdim: bool) -> Self {
        let gone = |i: &usize| all || dims.contains(i);
        if self.is_empty() || (all && !keepdim) {
            return Self(None);
        }
        let kept = (0..rank).filter(|i| keepdim || !gone(i));
        self.moved(kept.map(|i| (!gone(&i)).then_some(i)))
    }

    /// Returns whether both are the same object, for an addition of tensors with one origin.
    #[inline]
    fn is_same(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (None, None) => true,
            _ => false,
        }
    }
}

/// The names of an operand's dims.
pub(super) type DimNames<'a> = &'a [Option<&'a str>];

/// Returns the labels of an elementwise result: those of each operand, which must be equal along dims that both have.
#[inline]
pub(super) fn unified(
    op: &'static str,
    x: (&Coords, DimNames<'_>),
    y: (&Coords, DimNames<'_>),
    out: DimNames<'_>,
) -> Result<Coords> {
    if x.0.is_same(y.0) && x.1.len() == y.1.len() {
        return Ok(x.0.clone());
    }
    if y.0.is_empty() && x.1.len() == out.len() {
        return Ok(x.0.clone());
    }
    unified_by_name(op, x, y, out)
}

fn unified_by_name(
    op: &'static str,
    x: (&Coords, DimNames<'_>),
    y: (&Coords, DimNames<'_>),
    out: DimNames<'_>,
) -> Result<Coords> {
    // A row beside a matrix: its labels are among those of the left operand, so nothing is allocated.
    let skip = x.1.len().checked_sub(y.1.len());
    if let (Some(skip), true) = (skip, x.1.len() == out.len())
        && x.1[skip..] == *y.1
        && (0..y.1.len()).all(|i| match (x.0.get(skip + i), y.0.get(i)) {
            (_, None) => true,
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (None, Some(_)) => false,
        })
    {
        return Ok(x.0.clone());
    }
    fn find<'a>(
        operand: (&'a Coords, DimNames<'_>),
        name: Option<&str>,
    ) -> Option<&'a Arc<dyn AnyLabels>> {
        let at = operand
            .1
            .iter()
            .position(|other| other.is_some() && *other == name)?;
        operand.0.get(at)
    }
    let each = out
        .iter()
        .map(|name| joined(op, name.unwrap_or("_"), find(x, *name), find(y, *name)));
    each.collect::<Result<Vec<_>>>().map(Coords::new)
}

/// Returns the labels of a dim that two operands share.
fn joined(
    op: &'static str,
    dim: &str,
    a: Option<&Arc<dyn AnyLabels>>,
    b: Option<&Arc<dyn AnyLabels>>,
) -> Result<Option<Arc<dyn AnyLabels>>> {
    if let (Some(a), Some(b)) = (a, b)
        && !Arc::ptr_eq(a, b)
        && let Some(difference) = a.first_difference(&**b)
    {
        return Err(differ(op, dim, &**a, &**b, difference));
    }
    Ok(a.or(b).cloned())
}

/// Checks that labels along a dim that two operands share are equal, where that dim is summed over.
pub(super) fn require_equal(
    op: &'static str,
    dim: &str,
    a: Option<&Arc<dyn AnyLabels>>,
    b: Option<&Arc<dyn AnyLabels>>,
) -> Result<()> {
    joined(op, dim, a, b).map(drop)
}

/// Returns names as text, for tensors whose names the run time knows.
pub(super) fn texts(names: &Names) -> Vec<Option<&str>> {
    names
        .iter()
        .map(|name| name.as_ref().map(|name| name.as_str()))
        .collect()
}
