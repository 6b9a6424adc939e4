//! Conversions from coordinates and values, and from and to dense tensors.

use crate::Device;
use nomina_core::{DType, Element, Names, Result};

use super::{DynSparse, about, dense};
use crate::call;
use crate::raw::RawCoo;
use crate::tensor::{DynTensor, IntoNames};

impl DynSparse {
    /// Creates a sparse tensor from `indices`, one row per sparse dim, and `values`, one per
    /// column: a number each, or a block of dense dims. `size` gives all sizes, sparse and dense.
    /// Values at the same position are summed. PyTorch's `sparse_coo_tensor`.
    ///
    /// # Errors
    /// If indices are not a matrix of integers, values and columns differ in number, an index is
    /// out of range, or sizes or names do not fit.
    pub fn from_coo(
        indices: &DynTensor,
        values: &DynTensor,
        size: &[usize],
        names: impl IntoNames,
    ) -> Result<Self> {
        let names = names.into_names(OP, size.len())?;
        Self::build(indices, values, Some(size), |_| Ok(names))
    }

    /// Like [`DynSparse::from_coo`], but the sparse sizes are the greatest index of each dim plus
    /// one.
    ///
    /// # Errors
    /// Like [`DynSparse::from_coo`].
    pub fn from_coo_inferred(
        indices: &DynTensor,
        values: &DynTensor,
        names: impl IntoNames,
    ) -> Result<Self> {
        Self::build(indices, values, None, |rank| names.into_names(OP, rank))
    }

    fn build(
        indices: &DynTensor,
        values: &DynTensor,
        size: Option<&[usize]>,
        names: impl FnOnce(usize) -> Result<Names>,
    ) -> Result<Self> {
        let raw = RawCoo::new(OP, indices.raw(), values.raw(), size)
            .map_err(|e| about(e, &[dense(indices), dense(values)]))?;
        let names = names(raw.rank())?;
        Ok(Self::new(raw, names))
    }

    /// Creates a sparse tensor without entries: all elements are zero.
    ///
    /// # Errors
    /// If names do not fit the sizes.
    pub fn zeros(size: &[usize], dtype: DType, names: impl IntoNames) -> Result<Self> {
        let indices = DynTensor::options().dtype(DType::I64);
        let indices = indices.zeros(&[size.len(), 0], ())?;
        let values = DynTensor::options().dtype(dtype).zeros(&[0], ())?;
        let Self { raw, names } = Self::from_coo(&indices, &values, size, names)?;
        Ok(Self::new(raw.marked(true), names))
    }

    /// Sorts the entries in row-major order and sums values at the same position.
    ///
    /// # Errors
    /// If memory runs out.
    pub fn coalesce(&self) -> Result<Self> {
        let raw = call::coalesce(&self.raw).map_err(|e| self.blame(e))?;
        Ok(Self::new(raw, self.names.clone()))
    }

    /// Converts to a dense tensor.
    ///
    /// # Errors
    /// If memory runs out.
    pub fn to_dense(&self) -> Result<DynTensor> {
        let raw = call::to_dense(&self.raw).map_err(|e| self.blame(e))?;
        Ok(DynTensor::new(raw, self.names.clone()))
    }

    /// Converts the values to another dtype; returns the tensor itself if they already have it.
    ///
    /// # Errors
    /// If memory runs out.
    pub fn to_dtype(&self, dtype: DType) -> Result<Self> {
        let raw = call::sparse_to_dtype(&self.raw, dtype).map_err(|e| self.blame(e))?;
        Ok(Self::new(raw, self.names.clone()))
    }

    /// Converts the values to the dtype of `T`: `x.to::<f64>()`.
    ///
    /// # Errors
    /// If memory runs out.
    pub fn to<T: Element>(&self) -> Result<Self> {
        self.to_dtype(T::DTYPE)
    }

    /// Returns the tensor on another device; the tensor itself if it is already there.
    ///
    /// # Errors
    /// [`ErrorKind::Device`](nomina_core::ErrorKind::Device) if the device cannot be used.
    pub fn to_device(&self, device: Device) -> Result<Self> {
        let raw = self.raw.to_device(device).map_err(|e| self.blame(e))?;
        Ok(Self::new(raw, self.names.clone()))
    }
}

const OP: &str = "sparse_coo_tensor";

impl DynTensor {
    /// Converts the elements that differ from zero to a coalesced sparse tensor of the same names.
    ///
    /// # Errors
    /// If memory runs out.
    pub fn to_sparse(&self) -> Result<DynSparse> {
        self.to_sparse_with(self.rank())
    }

    /// Like [`DynTensor::to_sparse`], but only the first `sparse_dim` dims are sparse, and the
    /// values are blocks of the others.
    ///
    /// # Errors
    /// [`ErrorKind::Rank`](nomina_core::ErrorKind::Rank) if there are fewer dims.
    pub fn to_sparse_with(&self, sparse_dim: usize) -> Result<DynSparse> {
        let raw = call::to_sparse(self.raw(), sparse_dim).map_err(|e| about(e, &[dense(self)]))?;
        Ok(DynSparse::new(raw, self.names().clone()))
    }

    /// Returns the elements at the positions of `mask` as a sparse tensor; names unify.
    ///
    /// # Errors
    /// If names do not unify, or sizes differ.
    pub fn sparse_mask(&self, mask: &DynSparse) -> Result<DynSparse> {
        let fail = |e| about(e, &[dense(self), mask.seen()]);
        let names =
            nomina_core::rule::unify("sparse_mask", self.names(), &mask.names).map_err(fail)?;
        let raw = call::sparse_mask(self.raw(), &mask.raw).map_err(fail)?;
        Ok(DynSparse::new(raw, names))
    }
}
