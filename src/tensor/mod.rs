//! The typed tensor.

mod activation;
mod added;
mod arithmetic;
mod attribute;
mod conv;
mod convert;
mod data;
mod dynamic;
mod einsum;
mod elementwise;
mod extreme;
mod factory;
mod factory_out;
mod flatten;
mod format;
mod gather;
mod generated;
mod index;
mod into;
mod into_pair;
mod join;
mod like;
mod loss;
mod mask;
#[cfg(feature = "ndarray")]
mod ndarray;
mod norm;
mod operand;
mod options;
mod order;
mod others;
mod parametric;
mod part;
mod product;
mod query;
mod random;
mod random_factory;
mod random_from;
mod random_part;
mod reduce;
mod sample;
mod shape;
mod sort;
mod sparse;
mod stat;
mod view;

use std::marker::PhantomData;

use nomina_core::dims::{Axes, Dims, OneDim, position, positions};
use nomina_core::{Element, Result};

pub use dynamic::Typed;
pub use einsum::{
    EinsumTerms, einsum, einsum_all, einsum_first, einsum_named, einsum_operand, einsum_result,
    einsum_times, try_einsum,
};
pub use extreme::Extremes;
pub use factory::tensor_from_array;
pub use gather::{EachPoint, Points, PointsOf, ScatterFrom};
pub use index::{AsPick, EachSubscript, Indices, Part, SubscriptViews, Subscripts, SubscriptsOf};
pub use into_pair::{cat_out, stack_out, try_cat_out, try_stack_out};
pub use join::{JoinEach, Joinable, TensorItem, TensorList, cat, stack, try_cat, try_stack};
pub use like::LikeOptions;
pub use loss::{BinaryCrossEntropyOptions, CrossEntropyOptions, Targets, reduction};
pub use norm::{BatchNormOptions, LayerNormOptions, RmsNormOptions};
pub use operand::{Absorb, Combine, OfScalar, OfTensor, Operand, OutDims, OutDtype};
pub use options::Options;
pub use part::TensorMut;
pub use random::Probability;
pub use random_factory::Moments;
pub use reduce::ReduceOptions;
pub use shape::{
    ComplexPart, Interleave, Sections, Shifts, Vectors, block_diag, cartesian_prod, meshgrid,
    try_block_diag, try_cartesian_prod, try_meshgrid,
};
pub use sort::{Unique, Weight};
pub use sparse::{Sparse, SparseFactor, Summed};
pub use stat::CovOptions;
pub use view::{SplitSizes, Whole};

use crate::call::{Bare, Dest, Known, Look, Side, reduce::Picked};

/// A tensor whose dims have names in its type: `Tensor<(N, C)>` is a matrix of `f32` with rows
/// along `N` and columns along `C`.
///
/// rustc checks the names: `&x + &y` compiles where the dims of both unify, [`sum(C)`](Self::sum)
/// where `C` is one of them. What is wrong with sizes, memory or devices shows at run time: the
/// plain methods panic at the caller's line, their `try_` twins return the same
/// [`Error`](crate::Error). A dim may be [`Wild`](crate::Wild), a name that rustc does not know.
///
/// Cloning costs nothing: clones and views share elements until one of them is written to.
///
/// ```
/// use nomina::prelude::*;
/// dims! { N, C }
/// let x = tensor!([[1., 2., 3.], [4., 5., 6.]]; N, C);
/// let total: Tensor<(N,)> = x.sum(C);
/// assert_eq!(total.to_vec(), [6.0, 15.0]);
/// let centred = &x - x.mean(keep(C));
/// assert_eq!(centred.to_vec(), [-1.0, 0.0, 1.0, -1.0, 0.0, 1.0]);
/// ```
pub struct Tensor<D: Dims, T: Element = f32> {
    bare: Bare,
    types: PhantomData<fn() -> (D, T)>,
}

impl<D: Dims, T: Element> Clone for Tensor<D, T> {
    fn clone(&self) -> Self {
        Self::wrap(self.bare.clone())
    }
}

impl<D: Dims, T: Element> Tensor<D, T> {
    /// Gives a result the types that its operator computed.
    #[inline]
    fn wrap(bare: Bare) -> Self {
        debug_assert!(
            bare.fits(D::STATIC, T::DTYPE),
            "types and values disagree: {bare:?}"
        );
        Self {
            bare,
            types: PhantomData,
        }
    }

    /// [`wrap`](Self::wrap) for what may have failed.
    #[inline]
    fn give(result: Result<Bare>) -> Result<Self> {
        result.map(Self::wrap)
    }

    /// Without its types, for the functions of [`crate::call`].
    #[inline]
    pub(crate) fn look(&self) -> Look<'_> {
        self.bare.look(D::STATIC)
    }

    /// As an operand.
    #[inline]
    pub(crate) fn side(&self) -> Side<'_> {
        Side::Tensor(self.look())
    }

    /// As what an in-place operator writes to; copied first if somebody else sees the buffer.
    #[inline]
    fn dest(&mut self) -> Result<Dest<'_>> {
        self.bare.dest(D::STATIC)
    }
}

/// Where a dim stands, which the tensor has.
#[inline]
fn at<X: OneDim, D: Dims, T: Element>(_dim: &X, _of: &Tensor<D, T>) -> usize {
    position::<X, D>()
}

/// What types know of an argument that picks dims.
#[inline]
fn picked<A: Axes, D: Dims>(_dims: &A) -> Picked {
    Picked {
        at: positions::<A, D>(),
        all: A::ALL,
        keepdim: A::KEEPDIM,
    }
}
