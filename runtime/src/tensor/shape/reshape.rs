//! Other sizes for the same elements, and windows over them.

use nomina_core::rule::{self, DimRef};
use nomina_core::{Error, ErrorKind, Names, Result};

use crate::call;
use crate::raw::Raw;
use crate::tensor::{DynTensor, about};

impl DynTensor {
    /// Other sizes for the same elements, one of which may be -1; a copy only where the strides
    /// demand it. A tensor with names only keeps its shape: see [`DynTensor::flatten`] and
    /// [`DynTensor::unflatten`].
    ///
    /// # Errors
    /// [`ErrorKind::Shape`] if the sizes do not multiply up, [`ErrorKind::Resize`] if names would
    /// be lost.
    pub fn reshape(&self, shape: &[i64]) -> Result<Self> {
        self.reshaped("reshape", shape, Raw::reshape)
    }

    /// [`DynTensor::reshape`] to another tensor's sizes.
    ///
    /// # Errors
    /// Like [`DynTensor::reshape`].
    pub fn reshape_as(&self, other: &Self) -> Result<Self> {
        self.reshaped("reshape_as", &signed(other.shape()), Raw::reshape)
    }

    /// [`DynTensor::reshape`] that never copies.
    ///
    /// # Errors
    /// Like [`DynTensor::reshape`], and [`ErrorKind::Layout`] if the strides demand a copy.
    pub fn view(&self, size: &[i64]) -> Result<Self> {
        self.reshaped("view", size, |raw, shape| no_copy("view", raw, shape))
    }

    /// [`DynTensor::view`] in another tensor's sizes.
    ///
    /// # Errors
    /// Like [`DynTensor::view`].
    pub fn view_as(&self, other: &Self) -> Result<Self> {
        self.reshaped("view_as", &signed(other.shape()), |raw, shape| {
            no_copy("view_as", raw, shape)
        })
    }

    fn reshaped(
        &self,
        op: &'static str,
        sizes: &[i64],
        relay: impl FnOnce(&Raw, &[usize]) -> Result<Raw>,
    ) -> Result<Self> {
        let fail = |e: Error| about(e.in_op(op), &[self]);
        let (names, shape) = rule::reshape(op, &self.names, self.shape(), sizes).map_err(fail)?;
        Ok(Self::new(relay(&self.raw, &shape).map_err(fail)?, names))
    }

    /// Repeats dims of size 1 to another tensor's sizes, without a copy; new dims on the left are
    /// unnamed.
    ///
    /// # Errors
    /// [`ErrorKind::Shape`] if a size that is not 1 would change.
    pub fn expand_as(&self, other: &Self) -> Result<Self> {
        rule::expand_as(self.shape(), other.shape()).map_err(|e| about(e, &[self, other]))?;
        self.expand(&signed(other.shape()))
            .map_err(|e| about(e.in_op("expand_as"), &[self]))
    }

    /// Windows of `size` elements that begin `step` apart along a dim, without a copy; the dim
    /// within a window stands last, with a name or without.
    ///
    /// # Errors
    /// If the dim does not exist or a window does not fit into it, [`ErrorKind::DuplicateNames`]
    /// if `self` has a dim `outdim`.
    pub fn unfold<'a, 'b>(
        &self,
        dimension: impl Into<DimRef<'a>>,
        size: usize,
        step: usize,
        outdim: impl Into<Option<&'b str>>,
    ) -> Result<Self> {
        let fail = |e| about(e, &[self]);
        let (at, names) =
            rule::unfold("unfold", &self.names, dimension.into(), outdim.into()).map_err(fail)?;
        let raw = call::windows(&self.raw, at, size, step).map_err(fail)?;
        Ok(Self::new(raw, names))
    }

    /// A number as a vector of one element; anything else as it is.
    ///
    /// # Errors
    /// Never because of the caller.
    pub fn atleast_1d(&self) -> Result<Self> {
        if self.rank() == 0 {
            return self.unsqueeze(0, None);
        }
        Ok(self.clone())
    }

    /// A vector as a row, a number as a matrix of one element; anything else as it is.
    ///
    /// # Errors
    /// Never because of the caller.
    pub fn atleast_2d(&self) -> Result<Self> {
        let row = self.atleast_1d()?;
        if row.rank() == 1 {
            return row.unsqueeze(0, None);
        }
        Ok(row)
    }

    /// At least three dims: a vector stands in the middle, a matrix in front.
    ///
    /// # Errors
    /// Never because of the caller.
    pub fn atleast_3d(&self) -> Result<Self> {
        let plane = self.atleast_2d()?;
        if plane.rank() == 2 {
            return plane.unsqueeze(2, None);
        }
        Ok(plane)
    }
}

/// Sizes of a tensor that is there; each fits.
fn signed(shape: &[usize]) -> Vec<i64> {
    shape.iter().map(|&size| size as i64).collect()
}

fn no_copy(op: &'static str, raw: &Raw, shape: &[usize]) -> Result<Raw> {
    raw.view(shape)?.ok_or_else(|| {
        let what = format!("strides {:?} do not allow {shape:?}", raw.strides());
        Error::new(ErrorKind::Layout, op, what)
            .operand(&Names::default(), raw.shape())
            .hint("use `reshape`, which copies where it must")
    })
}
