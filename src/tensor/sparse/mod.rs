//! Sparse tensors with names in their type.
//!
//! [`Sparse::from_coo`], [`Sparse::from_entries`], [`Sparse::from_dyn`], [`Sparse::into_dyn`],
//! [`Sparse::as_dyn`], [`Sparse::names`], [`Sparse::shape`], [`Sparse::size`], [`Sparse::rank`],
//! [`Sparse::numel`], [`Sparse::nnz`], [`Sparse::sparse_dim`], [`Sparse::dense_dim`],
//! [`Sparse::is_coalesced`], [`Sparse::is_sparse`], [`Sparse::layout`], [`Sparse::dtype`],
//! [`Sparse::device`], [`Tensor::to_sparse`].

/// Methods of a sparse tensor, with their twins.
macro_rules! twins {
    ($(
        $(#[$doc:meta])*
        fn $try_name:ident [$($generics:tt)*] ($self:ident $(, $arg:ident: $kind:ty)*) -> $out:ty
            [$($bounds:tt)*] $body:block
    )*) => {$(
        $(#[$doc])*
        #[twin]
        pub fn $try_name<$($generics)*>(&$self $(, $arg: $kind)*) -> Result<$out> where $($bounds)* $body
    )*};
}

pub mod arithmetic;
pub mod matmul;
pub mod names;

use std::fmt;
use std::marker::PhantomData;

use nomina_core::dims::{DimOf, Dims, Distinct, Matrix, ShapeFor, Vector, Wild, position};
use nomina_core::{DType, Element, Layout, Names, Result};
use nomina_macros::twin;
use nomina_runtime::Device;
use nomina_runtime::DynSparse;

use super::Tensor;
use super::dynamic::check;
use crate::erased::{Known, sparse, view::check_sizes};

pub use arithmetic::{SparseFactor, SparseTerm, Summed};

/// A sparse tensor whose dims have names in its type: coordinates and the values there; all other
/// elements are zero. PyTorch's layout `sparse_coo`.
///
/// All dims are sparse; a tensor that also has dense dims is a [`DynSparse`]. Operators without a
/// sparse implementation are not methods here; convert with [`to_dense`](Self::to_dense) first.
///
/// ```
/// use nomina::prelude::*;
/// dims! { N, C, K }
/// let x = Sparse::<(N, C)>::from_entries(&[([0, 2], 3.0), ([1, 0], 4.0), ([1, 0], 1.0)], [2, 3]);
/// let total: Sparse<(C,)> = x.sum(N);
/// assert_eq!(total.to_dense().to_vec(), [5.0, 0.0, 3.0]);
/// let y: Tensor<(N, K)> = x.mm(&Tensor::<(C, K)>::ones([3, 2]));
/// assert_eq!(y.to_vec(), [3.0, 3.0, 5.0, 5.0]);
/// ```
pub struct Sparse<D: Dims, T: Element = f32> {
    inner: DynSparse,
    types: PhantomData<fn() -> (D, T)>,
}

impl<D: Dims, T: Element> Clone for Sparse<D, T> {
    fn clone(&self) -> Self {
        Self::from_erased(self.inner.clone())
    }
}

impl<D: Dims, T: Element> Sparse<D, T> {
    /// Gives a result the types that its operator computed.
    fn from_erased(inner: DynSparse) -> Self {
        debug_assert!(
            sparse::fits(&inner, D::STATIC, T::DTYPE),
            "types and values disagree: {inner:?}"
        );
        Self {
            inner,
            types: PhantomData,
        }
    }

    /// Creates a sparse tensor from `indices`, one row per dim, and `values`, one per column.
    /// Values at the same position are summed. PyTorch's `sparse_coo_tensor`.
    ///
    /// # Errors
    /// If there is not one row of indices per dim and one column per value, or an index is out of
    /// range.
    #[twin]
    pub fn try_from_coo<I: Dims + Matrix, V: Dims + Vector, S: ShapeFor<D>>(
        indices: &Tensor<I, i64>,
        values: &Tensor<V, T>,
        shape: S,
    ) -> Result<Self>
    where
        D: Distinct,
    {
        let (indices, values) = (indices.to_dyn(), values.to_dyn());
        sparse::build(&indices, &values, &shape.sizes(), D::STATIC).map(Self::from_erased)
    }

    /// Creates a sparse tensor from positions and values: `&[([0, 2], 3.0), ([1, 0], 4.0)]`. Values
    /// at the same position are summed.
    ///
    /// # Errors
    /// If an index is out of range.
    #[twin]
    pub fn try_from_entries<const K: usize>(
        entries: &[([usize; K], T)],
        shape: [usize; K],
    ) -> Result<Self>
    where
        D: Distinct,
        [usize; K]: ShapeFor<D>,
    {
        sparse::entries(entries, &shape, D::STATIC).map(Self::from_erased)
    }

    /// Converts from a [`DynSparse`]. Checks rank, names, constant sizes and dtype.
    ///
    /// # Errors
    /// If the matrix does not fit, or the tensor has dense dims.
    pub fn from_dyn(x: &DynSparse) -> Result<Self>
    where
        D: Distinct,
    {
        check(x.names(), x.shape(), x.dtype(), D::STATIC.names, T::DTYPE)?;
        check_sizes("typed", x.shape(), D::STATIC)?;
        sparse::all_sparse(x)?;
        Ok(Self::from_erased(x.clone()))
    }

    /// Converts to a [`DynSparse`]: names, rank and dtype at run time only. Free.
    pub fn into_dyn(self) -> DynSparse {
        self.inner
    }

    /// Returns this tensor as a [`DynSparse`]. Free.
    pub fn as_dyn(&self) -> &DynSparse {
        &self.inner
    }

    /// Returns the names of the dims; `None` for a `Wild` without a name.
    #[must_use]
    pub fn names(&self) -> Names {
        self.inner.names().clone()
    }

    /// Returns the sizes, in order.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        self.inner.shape()
    }

    /// Returns the size of a dim.
    #[must_use]
    pub fn size<X: DimOf<D>>(&self, dim: X) -> usize {
        let _ = dim;
        self.shape()[position::<X, D>()]
    }

    /// Returns the number of dims.
    #[must_use]
    pub fn rank(&self) -> usize {
        D::RANK
    }

    /// Returns the number of elements, including zeros.
    #[must_use]
    pub fn numel(&self) -> usize {
        self.inner.numel()
    }

    /// Returns the number of entries.
    #[must_use]
    pub fn nnz(&self) -> usize {
        self.inner.nnz()
    }

    /// Returns the number of sparse dims: all.
    #[must_use]
    pub fn sparse_dim(&self) -> usize {
        D::RANK
    }

    /// Returns the number of dense dims: 0.
    #[must_use]
    pub fn dense_dim(&self) -> usize {
        0
    }

    /// Returns whether the entries are in row-major order, at most one for each position.
    #[must_use]
    pub fn is_coalesced(&self) -> bool {
        self.inner.is_coalesced()
    }

    /// Returns true: the layout is sparse.
    #[must_use]
    pub fn is_sparse(&self) -> bool {
        true
    }

    /// Returns the layout.
    #[must_use]
    pub fn layout(&self) -> Layout {
        self.inner.layout()
    }

    /// Returns the dtype as a value.
    #[must_use]
    pub fn dtype(&self) -> DType {
        T::DTYPE
    }

    /// Returns the device.
    #[must_use]
    pub fn device(&self) -> Device {
        self.inner.device()
    }

    twins! {
        /// Sorts the entries in row-major order and sums values at the same position.
        ///
        /// # Errors
        /// If memory runs out.
        fn try_coalesce [] (self) -> Self [] {
            self.inner.coalesce().map(Self::from_erased)
        }

        /// Returns the tensor on another device; the tensor itself if it is already there.
        ///
        /// # Errors
        /// If the device does not exist, or memory runs out.
        fn try_to_device [] (self, device: Device) -> Self [] {
            self.inner.to_device(device).map(Self::from_erased)
        }

        /// Converts to a dense tensor.
        ///
        /// # Errors
        /// If memory runs out.
        fn try_to_dense [] (self) -> Tensor<D, T> [] {
            Tensor::try_from_dyn(self.inner.to_dense())
        }

        /// Returns the coordinates of a coalesced tensor: one row per dim, one column per entry.
        ///
        /// # Errors
        /// If the tensor is not coalesced, or memory runs out.
        fn try_indices [] (self) -> Tensor<(Wild, Wild), i64> [] {
            Tensor::try_from_dyn(self.inner.indices())
        }

        /// Returns the values of a coalesced tensor, one per entry.
        ///
        /// # Errors
        /// If the tensor is not coalesced, or memory runs out.
        fn try_values [] (self) -> Tensor<(Wild,), T> [] {
            Tensor::try_from_dyn(self.inner.values())
        }

        /// Converts the values, with the casts of PyTorch.
        ///
        /// # Errors
        /// If memory runs out.
        fn try_to [U: Element] (self) -> Sparse<D, U> [] {
            self.inner.to_dtype(U::DTYPE).map(Sparse::from_erased)
        }
    }
}

impl<D: Dims, T: Element> Tensor<D, T> {
    /// Converts the elements that differ from zero to a coalesced sparse tensor.
    ///
    /// # Errors
    /// If memory runs out.
    #[twin]
    pub fn try_to_sparse(&self) -> Result<Sparse<D, T>> {
        self.to_dyn().to_sparse().map(Sparse::from_erased)
    }
}

impl<D: Dims, T: Element> From<Sparse<D, T>> for DynSparse {
    fn from(x: Sparse<D, T>) -> Self {
        x.inner
    }
}

/// Formats coordinates and values, and a line with names, sizes, dtype and the number of entries.
impl<D: Dims, T: Element> fmt::Display for Sparse<D, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

/// Formats to one line: `dims (N=2, C=3), f32, sparse, 2 entries: [(0, 2): 3.0, (1, 0): 4.0]`.
impl<D: Dims, T: Element> fmt::Debug for Sparse<D, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}
