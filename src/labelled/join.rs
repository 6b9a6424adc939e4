//! Two tensors at the labels that both have, or that either has.

use std::sync::Arc;

use nomina_core::dims::Dims;
use nomina_core::{Element, Result};

use super::any::{AnyLabels, Fill};
use super::coords::{Coords, DimNames, error, texts};
use super::{DynLabelled, Labelled};

/// Returns the positions of the dims that two tensors share by name.
pub(super) fn shared(
    x: (&Coords, DimNames<'_>),
    y: (&Coords, DimNames<'_>),
) -> Vec<(usize, usize)> {
    let find = |name: &Option<&str>| {
        y.1.iter()
            .position(|other| other == name && other.is_some())
    };
    x.1.iter()
        .enumerate()
        .filter_map(|(i, name)| Some((i, find(name)?)))
        .collect()
}

/// Which labels two tensors keep along a dim.
#[derive(Clone, Copy)]
enum Join {
    /// Labels of both, in the order of the left.
    Inner,
    /// Labels of either, in rising order.
    Outer,
}

/// Returns the dims that two tensors share, where their labels differ, with the labels that both shall have.
fn joins(
    op: &'static str,
    x: (&Coords, DimNames<'_>),
    y: (&Coords, DimNames<'_>),
    join: Join,
) -> Result<Vec<(usize, usize, Arc<dyn AnyLabels>)>> {
    let mut found = Vec::new();
    for (i, j) in shared(x, y) {
        let (Some(a), Some(b)) = (x.0.get(i), y.0.get(j)) else {
            continue;
        };
        if Arc::ptr_eq(a, b) {
            continue;
        }
        if a.first_difference(&**b).is_none() {
            found.push((i, j, a.clone()));
            continue;
        }
        let wrong = |what: String| error(op, format!("dim `{}` {what}", x.1[i].unwrap_or("_")));
        let labels = match join {
            Join::Inner => {
                let there = b.indexer(&**a, Fill::Missing).map_err(wrong)?;
                let both: Vec<usize> = (0..a.len()).filter(|i| there[*i].is_some()).collect();
                a.take(&both)
            }
            Join::Outer => a.append(&[&**b]).map_err(wrong)?.groups().1,
        };
        found.push((i, j, labels));
    }
    Ok(found)
}

fn dyn_joined(
    op: &'static str,
    x: &DynLabelled,
    y: &DynLabelled,
    join: Join,
) -> Result<(DynLabelled, DynLabelled)> {
    let (own, its) = (texts(x.names()), texts(y.names()));
    let joins = joins(op, (&x.coords, &own), (&y.coords, &its), join)?;
    let (mut a, mut b) = (x.clone(), y.clone());
    for (i, j, labels) in joins {
        a = a.reindexed(op, i, &labels, Fill::Missing)?;
        b = b.reindexed(op, j, &labels, Fill::Missing)?;
    }
    Ok((a, b))
}

impl DynLabelled {
    /// Returns both tensors at the labels that both have, along the dims that they share.
    ///
    /// # Errors
    /// If labels are repeated, or of different types.
    pub fn inner(&self, other: &Self) -> Result<(Self, Self)> {
        dyn_joined("inner", self, other, Join::Inner)
    }

    /// Returns both tensors at the labels that either has, in rising order, with NaN for missing elements.
    ///
    /// # Errors
    /// If labels are repeated or of different types, or elements of a tensor of integers are missing.
    pub fn outer(&self, other: &Self) -> Result<(Self, Self)> {
        dyn_joined("outer", self, other, Join::Outer)
    }
}

fn joined<D: Dims, T: Element, E: Dims, U: Element>(
    op: &'static str,
    x: &Labelled<D, T>,
    y: &Labelled<E, U>,
    join: Join,
) -> Result<(Labelled<D, T>, Labelled<E, U>)> {
    let (mut a, mut b) = (x.clone(), y.clone());
    for (i, j, labels) in joins(op, (&x.coords, D::NAMES), (&y.coords, E::NAMES), join)? {
        a = a.computed(|x| x.reindexed(op, i, &labels, Fill::Missing))?;
        b = b.computed(|y| y.reindexed(op, j, &labels, Fill::Missing))?;
    }
    Ok((a, b))
}

/// Returns both tensors at the labels that both have, along the dims that they share.
///
/// ```
/// use nomina::{Labelled, inner, outer, prelude::*};
/// dims! { Lat: f64 }
/// let x = Labelled::new(tensor!([1., 2., 3.]; Lat)).with(Lat, [60.0, 45.0, 30.0]);
/// let y = Labelled::new(tensor!([10., 20.]; Lat)).with(Lat, [45.0, 15.0]);
/// let (a, b) = inner(&x, &y);
/// assert_eq!((&a + &b).to_vec(), [12.0]);
/// let (a, _) = outer(&x, &y);
/// assert_eq!(a.labels(Lat).values(), [15.0, 30.0, 45.0, 60.0]);
/// ```
///
/// # Panics
/// If labels are repeated, or of different types; [`try_inner`] returns the error.
#[track_caller]
pub fn inner<D: Dims, T: Element, E: Dims, U: Element>(
    x: &Labelled<D, T>,
    y: &Labelled<E, U>,
) -> (Labelled<D, T>, Labelled<E, U>) {
    crate::erased::ok(try_inner(x, y))
}

/// Like [`inner`], but returns the error.
///
/// # Errors
/// If labels are repeated, or of different types.
pub fn try_inner<D: Dims, T: Element, E: Dims, U: Element>(
    x: &Labelled<D, T>,
    y: &Labelled<E, U>,
) -> Result<(Labelled<D, T>, Labelled<E, U>)> {
    joined("inner", x, y, Join::Inner)
}

/// Returns both tensors at the labels that either has, in rising order, with NaN for missing elements; see [`inner`].
///
/// # Panics
/// If labels are repeated or of different types, or elements of a tensor of integers are missing.
#[track_caller]
pub fn outer<D: Dims, T: Element, E: Dims, U: Element>(
    x: &Labelled<D, T>,
    y: &Labelled<E, U>,
) -> (Labelled<D, T>, Labelled<E, U>) {
    crate::erased::ok(try_outer(x, y))
}

/// Like [`outer`], but returns the error.
///
/// # Errors
/// If labels are repeated or of different types, or elements of a tensor of integers are missing.
pub fn try_outer<D: Dims, T: Element, E: Dims, U: Element>(
    x: &Labelled<D, T>,
    y: &Labelled<E, U>,
) -> Result<(Labelled<D, T>, Labelled<E, U>)> {
    joined("outer", x, y, Join::Outer)
}
