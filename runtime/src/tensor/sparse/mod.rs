//! [`DynSparse`]: sparse tensors with names.

mod arithmetic;
mod build;
mod order;
mod product;

#[cfg(test)]
mod tests;

use std::fmt;

use crate::Device;
use nomina_core::rule::{self, DimRef};
use nomina_core::{DType, Error, ErrorKind, Layout, Names, Result};

use super::DynTensor;
use crate::raw::RawCoo;
use crate::{call, display};

pub use arithmetic::SparseOperand;

/// A sparse tensor whose names, rank and dtype are known at run time: coordinates and the values
/// there; all other elements are zero. PyTorch's layout `sparse_coo`.
///
/// The first dims are sparse; a tensor that also has dense dims holds a block of them per entry.
/// Operators without a sparse implementation are not methods here; convert with
/// [`DynSparse::to_dense`] first.
///
/// ```
/// use nomina_runtime::{DynSparse, DynTensor};
/// let indices = DynTensor::from_vec(vec![0i64, 1, 1, 2, 0, 2], &[2, 3], ())?;
/// let values = DynTensor::from_vec(vec![3.0f32, 4.0, 5.0], &[3], ())?;
/// let x = DynSparse::from_coo(&indices, &values, &[2, 3], ["N", "C"])?;
/// let total = x.sum("N")?.to_dense()?;
/// assert_eq!(total.names().to_string(), "(C,)");
/// assert_eq!(total.to_vec::<f32>()?, [4.0, 0.0, 8.0]);
/// # Ok::<(), nomina_core::Error>(())
/// ```
#[derive(Clone)]
#[must_use]
pub struct DynSparse {
    raw: RawCoo,
    names: Names,
}

/// A result that is sparse or dense, depending on its dims.
// A box would cost an allocation for every sparse result.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Debug)]
#[must_use]
pub enum AnyLayout {
    /// A sparse tensor.
    Sparse(DynSparse),
    /// A dense tensor.
    Dense(DynTensor),
}

impl AnyLayout {
    /// Returns the result as a dense tensor.
    ///
    /// # Errors
    /// If memory runs out.
    pub fn to_dense(&self) -> Result<DynTensor> {
        match self {
            Self::Sparse(x) => x.to_dense(),
            Self::Dense(x) => Ok(x.clone()),
        }
    }

    /// Returns the names of the dims.
    #[must_use]
    pub fn names(&self) -> &Names {
        match self {
            Self::Sparse(x) => x.names(),
            Self::Dense(x) => x.names(),
        }
    }
}

/// Adds to `error` the dims of its operands.
#[cold]
fn about(error: Error, operands: &[(&Names, &[usize])]) -> Error {
    if error.operands().is_empty() {
        return operands
            .iter()
            .fold(error, |e, (names, shape)| e.operand(names, shape));
    }
    error
        .with_names(operands.iter().map(|operand| operand.0))
        .with_shapes(operands.iter().map(|operand| operand.1))
}

fn dense(x: &DynTensor) -> (&Names, &[usize]) {
    (x.names(), x.shape())
}

impl DynSparse {
    /// Wraps the result of a rule and a kernel.
    fn new(raw: RawCoo, names: Names) -> Self {
        debug_assert_eq!(raw.rank(), names.len());
        Self { raw, names }
    }

    /// Returns the value of `out` after this result was written into it: with its dtype, and under
    /// its rules for names and sizes.
    ///
    /// # Errors
    /// If the dtype, names or sizes do not match `out`, or the devices differ.
    pub fn stored(self, op: &'static str, out: &Self) -> Result<Self> {
        rule::dtype::cast_to(op, self.dtype(), out.dtype())?;
        let fit = |e| about(e, &[(&out.names, out.shape()), (&self.names, self.shape())]);
        rule::out_shape(op, &out.names, out.shape(), self.shape()).map_err(fit)?;
        let names = rule::out(op, &out.names, &self.names).map_err(fit)?;
        call::fits_device(op, out.device(), self.device())?;
        Ok(Self::new(self.to_dtype(out.dtype())?.raw, names))
    }

    fn seen(&self) -> (&Names, &[usize]) {
        (&self.names, self.shape())
    }

    fn blame(&self, error: Error) -> Error {
        about(error, &[self.seen()])
    }

    /// Returns coordinates and values without the names.
    #[must_use]
    pub fn raw(&self) -> &RawCoo {
        &self.raw
    }

    /// Returns the names of the dims, `None` for a dim without a name.
    #[must_use]
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// Returns whether any dim has a name.
    #[must_use]
    pub fn has_names(&self) -> bool {
        self.names.has_names()
    }

    /// Returns the sizes.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        self.raw.shape()
    }

    /// Returns the size of a dim.
    ///
    /// # Errors
    /// If the dim does not exist.
    pub fn size<'a>(&self, dim: impl Into<DimRef<'a>>) -> Result<usize> {
        let position = dim.into().position("size", &self.names);
        position
            .map(|position| self.shape()[position])
            .map_err(|e| self.blame(e))
    }

    /// Returns the number of dims, sparse and dense.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.raw.rank()
    }

    /// Returns the number of elements, including zeros.
    #[must_use]
    pub fn numel(&self) -> usize {
        self.shape().iter().product()
    }

    /// Returns the number of entries: stored positions with their values.
    #[must_use]
    pub fn nnz(&self) -> usize {
        self.raw.nnz()
    }

    /// Returns the number of sparse dims, which come first.
    #[must_use]
    pub fn sparse_dim(&self) -> usize {
        self.raw.sparse_dim()
    }

    /// Returns the number of dense dims, those of a value.
    #[must_use]
    pub fn dense_dim(&self) -> usize {
        self.raw.dense_dim()
    }

    /// Returns whether the entries are in row-major order, at most one for each position.
    #[must_use]
    pub fn is_coalesced(&self) -> bool {
        self.raw.is_coalesced()
    }

    /// Returns true: the layout is sparse.
    #[must_use]
    pub fn is_sparse(&self) -> bool {
        true
    }

    /// Returns the layout.
    #[must_use]
    pub fn layout(&self) -> Layout {
        Layout::SparseCoo
    }

    /// Returns the dtype of the values.
    #[must_use]
    pub fn dtype(&self) -> DType {
        self.raw.dtype()
    }

    /// Returns the device.
    #[must_use]
    pub fn device(&self) -> Device {
        self.raw.device()
    }

    /// Returns the coordinates of a coalesced tensor: one row per sparse dim, one column per entry.
    ///
    /// # Errors
    /// [`ErrorKind::Layout`] if the tensor is not coalesced; [`DynSparse::entries`] does not
    /// require it.
    pub fn indices(&self) -> Result<DynTensor> {
        self.coalesced("indices").map(|x| x.entries().0)
    }

    /// Returns the values of a coalesced tensor, one per entry; dense dims keep their names.
    ///
    /// # Errors
    /// [`ErrorKind::Layout`] if the tensor is not coalesced; [`DynSparse::entries`] does not
    /// require it.
    pub fn values(&self) -> Result<DynTensor> {
        self.coalesced("values").map(|x| x.entries().1)
    }

    fn coalesced(&self, op: &'static str) -> Result<&Self> {
        if self.is_coalesced() {
            return Ok(self);
        }
        let what = "the tensor is not coalesced: indices may repeat";
        Err(self
            .blame(Error::new(ErrorKind::Layout, op, what))
            .hint("call `coalesce()` first, or use `entries()`"))
    }

    /// Returns coordinates and values as stored, coalesced or not.
    pub fn entries(&self) -> (DynTensor, DynTensor) {
        let dense = self.names.iter().skip(self.sparse_dim()).cloned();
        let names: Names = std::iter::once(None).chain(dense).collect();
        let indices = DynTensor::new(self.raw.indices().clone(), Names::unnamed(2));
        (indices, DynTensor::new(self.raw.values().clone(), names))
    }
}

/// Formats coordinates and values, and a line with names, sizes, dtype and the number of entries.
impl fmt::Display for DynSparse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        display::sparse(f, &self.raw, &self.names)
    }
}

/// Formats to one line: `dims (N=2, C=3), f32, sparse, 2 entries: [(0, 2): 3.0, (1, 0): 4.0]`.
impl fmt::Debug for DynSparse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        display::sparse_line(f, &self.raw, &self.names)
    }
}
