//! Sparse tensors with names in their type.
//!
//! [`Sparse::from_coo`], [`Sparse::from_entries`], [`Sparse::from_dyn`], [`Sparse::into_dyn`],
//! [`Sparse::as_dyn`], [`Sparse::names`], [`Sparse::shape`], [`Sparse::size`], [`Sparse::rank`],
//! [`Sparse::numel`], [`Sparse::nnz`], [`Sparse::sparse_dim`], [`Sparse::dense_dim`],
//! [`Sparse::is_coalesced`], [`Sparse::is_sparse`], [`Sparse::layout`], [`Sparse::dtype`],
//! [`Sparse::device`], [`Tensor::to_sparse`].

/// Methods that all fail alike.
macro_rules! twins {
    ($(
        $(#[$doc:meta])*
        fn $try_name:ident [$($generics:tt)*] ($self:ident $(, $arg:ident: $kind:ty)*) -> $out:ty
            [$($bounds:tt)*] $body:block
    )*) => {$(
        $(#[$doc])*
        ///
        /// # Errors
        /// When sizes do not fit, a `Wild` hides a name that does not, or memory is short.
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
use crate::call::{Known, sparse, view::check_sizes};

pub use arithmetic::{SparseFactor, SparseTerm, Summed};

/// A sparse tensor whose dims have names in its type: coordinates, and the values there;
/// everything else is zero. PyTorch's layout `sparse_coo`.
///
/// All dims are sparse; what has dense dims besides is a [`DynSparse`]. An operator that is not
/// built for sparse tensors is no method here: [`to_dense`](Self::to_dense) is the way to it.
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

    /// A sparse tensor from `indices`, one row per dim, and `values`, one per column. A place that
    /// stands twice holds the sum. PyTorch's `sparse_coo_tensor`.
    ///
    /// # Errors
    /// When there is not one row of indices per dim and one column per value, or an index is out of
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

    /// A sparse tensor from places and values: `&[([0, 2], 3.0), ([1, 0], 4.0)]`. A place that
    /// stands twice holds the sum.
    ///
    /// # Errors
    /// When an index is out of range.
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

    /// A [`DynSparse`] as one of these types, checked: rank, names, constant sizes, dtype.
    ///
    /// # Errors
    /// What does not fit, and a tensor with dense dims.
    pub fn from_dyn(x: &DynSparse) -> Result<Self>
    where
        D: Distinct,
    {
        check(x.names(), x.shape(), x.dtype(), D::STATIC.names, T::DTYPE)?;
        check_sizes("typed", x.shape(), D::STATIC)?;
        sparse::all_sparse(x)?;
        Ok(Self::from_erased(x.clone()))
    }

    /// With names, rank and dtype at run time only. Costs nothing.
    pub fn into_dyn(self) -> DynSparse {
        self.inner
    }

    /// As a [`DynSparse`]. Costs nothing.
    pub fn as_dyn(&self) -> &DynSparse {
        &self.inner
    }

    /// The names of the dims; `None` for a `Wild` that has none.
    #[must_use]
    pub fn names(&self) -> Names {
        self.inner.names().clone()
    }

    /// The sizes, in order.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        self.inner.shape()
    }

    /// The size of a dim.
    #[must_use]
    pub fn size<X: DimOf<D>>(&self, dim: X) -> usize {
        let _ = dim;
        self.shape()[position::<X, D>()]
    }

    /// The number of dims.
    #[must_use]
    pub fn rank(&self) -> usize {
        D::RANK
    }

    /// The number of elements, zeros included.
    #[must_use]
    pub fn numel(&self) -> usize {
        self.inner.numel()
    }

    /// The number of entries.
    #[must_use]
    pub fn nnz(&self) -> usize {
        self.inner.nnz()
    }

    /// The number of sparse dims: all.
    #[must_use]
    pub fn sparse_dim(&self) -> usize {
        D::RANK
    }

    /// The number of dense dims: none.
    #[must_use]
    pub fn dense_dim(&self) -> usize {
        0
    }

    /// Whether entries stand in row-major order, each at a place of its own.
    #[must_use]
    pub fn is_coalesced(&self) -> bool {
        self.inner.is_coalesced()
    }

    /// That it is sparse.
    #[must_use]
    pub fn is_sparse(&self) -> bool {
        true
    }

    /// The layout.
    #[must_use]
    pub fn layout(&self) -> Layout {
        self.inner.layout()
    }

    /// The dtype by value.
    #[must_use]
    pub fn dtype(&self) -> DType {
        T::DTYPE
    }

    /// The device.
    #[must_use]
    pub fn device(&self) -> Device {
        self.inner.device()
    }

    twins! {
        /// Entries in row-major order; values at one place become their sum.
        fn try_coalesce [] (self) -> Self [] {
            self.inner.coalesce().map(Self::from_erased)
        }

        /// On another device; itself when it is there.
        fn try_to_device [] (self, device: Device) -> Self [] {
            self.inner.to_device(device).map(Self::from_erased)
        }

        /// With all elements, zeros included.
        fn try_to_dense [] (self) -> Tensor<D, T> [] {
            Tensor::try_from_dyn(self.inner.to_dense())
        }

        /// The coordinates of a coalesced tensor: one row per dim, one column per entry.
        fn try_indices [] (self) -> Tensor<(Wild, Wild), i64> [] {
            Tensor::try_from_dyn(self.inner.indices())
        }

        /// The values of a coalesced tensor, one per entry.
        fn try_values [] (self) -> Tensor<(Wild,), T> [] {
            Tensor::try_from_dyn(self.inner.values())
        }

        /// The values converted, as PyTorch casts.
        fn try_to [U: Element] (self) -> Sparse<D, U> [] {
            self.inner.to_dtype(U::DTYPE).map(Sparse::from_erased)
        }
    }
}

impl<D: Dims, T: Element> Tensor<D, T> {
    /// The elements that differ from zero, as a coalesced sparse tensor.
    ///
    /// # Errors
    /// When memory is short.
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

/// Coordinates and values, and a line that says names, sizes, dtype, device and how many entries.
impl<D: Dims, T: Element> fmt::Display for Sparse<D, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

/// One line: `Sparse[N=2, C=3] f32 cpu, 2 entries [(0, 2): 3.0, (1, 0): 4.0]`.
impl<D: Dims, T: Element> fmt::Debug for Sparse<D, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}
