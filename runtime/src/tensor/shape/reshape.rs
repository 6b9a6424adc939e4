//! Other sizes for the same elements, and windows over them.

use nomina_core::rule::{self, DimRef};
use nomina_core::{Error, ErrorKind, Names, Result};

use crate::call;
use crate::raw::Raw;
use crate::tensor::{DynTensor, about};

impl DynTensor {
    /// Returns the elements in other sizes, one of which may be -1; copies only if the strides
    /// require it. A tensor with names only keeps its shape: see [`DynTensor::flatten`] and
    /// [`DynTensor::unflatten`].
    ///
    /// # Errors
    /// [`ErrorKind::Shape`] if the sizes do not multiply up, [`ErrorKind::Resize`] if names would
    /// be lost.
    pub fn reshape(&self, shape: &[i64]) -> Result<Self> {
        self.reshaped("reshape", shape, Raw::reshape)
    }

    /// Like [`DynTensor::reshape`], but to the sizes of another tensor.
    ///
    /// # Errors
    /// Like [`DynTensor::reshape`].
    pub fn reshape_as(&self, other: &Self) -> Result<Self> {
        self.reshaped("reshape_as", &signed(other.shape()), Raw::reshape)
    }

    /// Like [`DynTensor::reshape`], but never copies.
    ///
    /// # Errors
    /// Like [`DynTensor::reshape`]; also [`ErrorKind::Layout`] if the strides require a copy.
    pub fn view(&self, size: &[i64]) -> Result<Self> {
        self.reshaped("view", size, |raw, shape| no_copy("view", raw, shape))
    }

    /// Like [`DynTensor::view`], but to the sizes of another tensor.
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

    /// Repeats dims of size 1 to the sizes of another tensor, without a copy; new dims on the left
    /// are unnamed.
    ///
    /// # Errors
    /// [`ErrorKind::Shape`] if a size that is not 1 would change.
    pub fn expand_as(&self, other: &Self) -> Result<Self> {
        rule::expand_as(self.shape(), other.shape()).map_err(|e| about(e, &[self, other]))?;
        self.expand(&signed(other.shape()))
            .map_err(|e| about(e.in_op("expand_as"), &[self]))
    }

    /// Returns windows of `size` elements that begin `step` apart along a dim, without a copy; the
    /// dim within a window is last, with or without a name.
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

    /// Returns a number as a vector of one element; any other tensor unchanged.
    ///
    /// # Errors
    /// Never because of the caller.
    pub fn atleast_1d(&self) -> Result<Self> {
        if self.rank() == 0 {
            return self.unsqueeze(0, None);
        }
        Ok(self.clone())
    }

    /// Returns a vector as a row, a number as a matrix of one element; any other tensor unchanged.
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

    /// Returns a tensor of at least three dims: a vector becomes the middle dim, a matrix the first
    /// two.
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

/// Converts the sizes of an existing tensor, which are in range.
fn signed(shape: &[usize]) -> Vec<i64> {
    shape.iter().map(|&size| size as i64).collect()
}

fn no_copy(op: &'static str, raw: &Raw, shape: &[usize]) -> Result<Raw> {
    raw.view(shape)?.ok_or_else(|| {
        let what = format!("strides {:?} do not allow {shape:?}", raw.strides());
        Error::new(ErrorKind::Layout, op, what)
            .operand(&Names::default(), raw.shape())
            .hint("use `reshape`, which copies if needed")
    })
}
