//! Products of sparse and dense matrices.

use nomina_core::op::Op;
use nomina_core::{Error, ErrorKind, Names, Result, rule};

use super::{DynSparse, about, dense};
use crate::call;
use crate::tensor::DynTensor;

impl DynSparse {
    /// Multiplies by a dense matrix; the result is dense.
    ///
    /// # Errors
    /// If one is not a matrix, inner sizes or dtypes differ, or the result would have a name twice.
    pub fn mm(&self, mat2: &DynTensor) -> Result<DynTensor> {
        self.product(Op::Mm, mat2)
    }

    /// Multiplies by a dense vector; the result is dense.
    ///
    /// # Errors
    /// If `self` is not a matrix or `vec` no vector, or inner sizes or dtypes differ.
    pub fn mv(&self, vec: &DynTensor) -> Result<DynTensor> {
        self.product(Op::Mv, vec)
    }

    /// Multiplies by a dense matrix or vector; the result is dense.
    ///
    /// # Errors
    /// Like [`DynSparse::mm`] and [`DynSparse::mv`].
    pub fn matmul(&self, other: &DynTensor) -> Result<DynTensor> {
        self.product(Op::Matmul, other)
    }

    /// Computes mm, mv or matmul.
    pub(in crate::tensor) fn product(&self, op: Op, other: &DynTensor) -> Result<DynTensor> {
        type ProductNames = fn(&'static str, &Names, &Names) -> Result<Names>;
        let fail = |e| about(e, &[self.seen(), dense(other)]);
        let (rank, names): (&[usize], ProductNames) = match op {
            Op::Mm => (&[2], rule::mm),
            Op::Mv => (&[1], rule::mv),
            _ => (&[1, 2], rule::matmul),
        };
        if self.rank() != 2 || !rank.contains(&other.rank()) {
            let what = format!(
                "a sparse operand of {} dims, a dense one of {}",
                self.rank(),
                other.rank()
            );
            return Err(fail(Error::new(ErrorKind::Rank, op.name(), what))
                .hint("multiply matrices and vectors, or call `to_dense()` first"));
        }
        let names = names(op.name(), &self.names, other.names()).map_err(fail)?;
        let raw = call::sparse_product(op.name(), &self.raw, other.raw()).map_err(fail)?;
        Ok(DynTensor::new(raw, names))
    }
}

impl DynTensor {
    /// Multiplies a dense matrix by a sparse one; the result is dense.
    ///
    /// # Errors
    /// If one is not a matrix, inner sizes or dtypes differ, or the result would have a name twice.
    pub fn mm_sparse(&self, mat2: &DynSparse) -> Result<Self> {
        let fail = |e| about(e, &[dense(self), mat2.seen()]);
        if self.rank() != 2 || mat2.rank() != 2 || mat2.dense_dim() > 0 {
            let what = format!(
                "a dense operand of {} dims, a sparse one of {}",
                self.rank(),
                mat2.rank()
            );
            return Err(fail(Error::new(ErrorKind::Rank, "mm", what))
                .hint("multiply matrices, or call `to_dense()` first"));
        }
        let names = rule::mm("mm", self.names(), &mat2.names).map_err(fail)?;
        rule::mm_shape("mm", self.shape(), mat2.shape()).map_err(fail)?;
        // The transposed product has the sparse operand on the left.
        let left = call::sparse_permute("mm", &mat2.raw, &[1, 0]).map_err(fail)?;
        let product = call::sparse_product("mm", &left, &self.raw().transpose(0, 1)?);
        let product = product.and_then(|product| call::contiguous(&product.transpose(0, 1)?));
        Ok(Self::new(product.map_err(fail)?, names))
    }
}
