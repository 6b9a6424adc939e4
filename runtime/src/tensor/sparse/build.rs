//! From coordinates and values, from dense tensors and back.

use crate::Device;
use nomina_core::{DType, Element, Names, Result};

use super::{DynSparse, about, dense};
use crate::call;
use crate::raw::RawCoo;
use crate::tensor::{DynTensor, IntoNames};

impl DynSparse {
    /// A sparse tensor from `indices`, one row per sparse dim, and `values`, one per column: a
    /// number each, or a block of dense dims. `size` says all sizes, sparse and dense. A place that
    /// stands twice holds the sum. PyTorch's `sparse_coo_tensor`.
    ///
    /// # Errors
    /// If indices are no matrix of integers, there are not as many values as columns, an index is
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

    /// [`DynSparse::from_coo`] whose sparse sizes are one more than the greatest index of each.
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

    /// A sparse tensor without entries: all zeros.
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

    /// Entries in row-major order; values at one place become their sum.
    ///
    /// # Errors
    /// If memory runs out.
    pub fn coalesce(&self) -> Result<Self> {
        let raw = call::coalesce(&self.raw).map_err(|e| self.blame(e))?;
        Ok(Self::new(raw, self.names.clone()))
    }

    /// With all elements, zeros included.
    ///
    /// # Errors
    /// If memory runs out.
    pub fn to_dense(&self) -> Result<DynTensor> {
        let raw = call::to_dense(&self.raw).map_err(|e| self.blame(e))?;
        Ok(DynTensor::new(raw, self.names.clone()))
    }

    /// The values in another dtype; itself when they have it.
    ///
    /// # Errors
    /// If memory runs out.
    pub fn to_dtype(&self, dtype: DType) -> Result<Self> {
        let raw = call::sparse_to_dtype(&self.raw, dtype).map_err(|e| self.blame(e))?;
        Ok(Self::new(raw, self.names.clone()))
    }

    /// The values in the dtype of `T`: `x.to::<f64>()`.
    ///
    /// # Errors
    /// If memory runs out.
    pub fn to<T: Element>(&self) -> Result<Self> {
        self.to_dtype(T::DTYPE)
    }

    /// On another device; itself when it is there.
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
    /// The elements that differ from zero, as a coalesced sparse tensor of the same names.
    ///
    /// # Errors
    /// If memory runs out.
    pub fn to_sparse(&self) -> Result<DynSparse> {
        self.to_sparse_with(self.rank())
    }

    /// [`DynTensor::to_sparse`] whose first `sparse_dim` dims are sparse, and whose values are
    /// blocks of the others.
    ///
    /// # Errors
    /// [`ErrorKind::Rank`](nomina_core::ErrorKind::Rank) if there are fewer dims.
    pub fn to_sparse_with(&self, sparse_dim: usize) -> Result<DynSparse> {
        let raw = call::to_sparse(self.raw(), sparse_dim).map_err(|e| about(e, &[dense(self)]))?;
        Ok(DynSparse::new(raw, self.names().clone()))
    }

    /// The elements at the places of `mask`, as a sparse tensor; names unify.
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
