//! The typed tensor, family by family.
//!
//! All items here are methods of [`Tensor`], a few of [`TensorMut`] and [`Sparse`](sparse::Sparse),
//! and every type and function is also at the root of the crate: no program needs to name these
//! modules. They group related methods, each with a list, and rustc prints their paths if an
//! argument does not fit. Regular methods (elementwise operators, reductions, `softmax` and
//! similar) are in this module; `docs/operators.md` lists all.

// rustdoc lists the methods of `Tensor` in the order of these modules.

// Creating tensors.
pub mod factory;
pub mod factory_like;
pub mod factory_out;
#[cfg(feature = "ndarray")]
mod ndarray;
pub mod options;
pub mod random_factory;
#[cfg(feature = "serde")]
mod serde;

// Names, sizes and elements.
pub mod attribute;
pub mod convert;
pub mod data;
pub mod dynamic;
mod format;
pub mod query;

// Dims in another order or number.
pub mod flatten;
pub mod flatten_others;
pub mod order;
pub mod shape;
pub mod view;

// Parts of tensors.
pub mod gather;
pub mod index;
pub mod join;
pub mod mask;
pub mod part_mut;
pub mod refused;

// Elementwise operators.
mod arithmetic;
pub mod elementwise;
pub mod fused;
mod iter_sum;
pub mod operand;
pub mod parametric;
pub mod store;

// Reductions, order and statistics.
pub mod analysis;
pub mod extreme;
pub mod groupwise;
pub mod moments;
pub mod reduce;
pub mod sort;
pub mod stat;

// Products and linear algebra.
pub mod addmm;
pub mod einsum;
#[cfg(not(all(feature = "fft", feature = "linalg")))]
mod feature_off;
#[cfg(feature = "fft")]
pub mod fft;
#[cfg(feature = "linalg")]
pub mod linalg;
pub mod product;
pub mod sparse;

// Networks, random numbers and gradients.
pub mod activation;
pub mod conv;
pub mod grad;
pub mod loss;
pub mod norm;
pub mod out_pairs;
pub mod random;
pub mod sample;

use nomina_core::dims::{Axes, Dims, OneDim, position, positions};
use nomina_core::{Element, Result};
use nomina_runtime::memory::list;
use nomina_runtime::{DynTensor, profile};

use gather::{EachPoint, Points};
use index::{AsPick, EachSubscript, Indices, Part, SubscriptViews, Subscripts, SubscriptsOf};
use join::{JoinEach, TensorItem, TensorList};
use operand::{Absorb, AsBool, AsDouble, AsFloat, Combine, Operand, OutDims, OutDtype};
use part_mut::TensorMut;
use reduce::ReduceOptions;
use view::Whole;

use crate::erased::{Dest, Erased, ErasedRef, Known, OperandRef, compose, reduce::Picked};

/// A tensor whose dims have names in its type: `Tensor<(N, C)>` is a matrix of `f32` with rows
/// along `N` and columns along `C`.
///
/// rustc checks the names: `&x + &y` compiles if the dims of both unify, [`sum(C)`](Self::sum) if
/// `C` is one of them. Mistakes with sizes, memory or devices show at run time: the plain methods
/// panic at the caller's line, their `try_` twins return the same [`Error`](crate::Error). A dim
/// may be [`Wild`](crate::Wild), a name unknown to rustc.
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
///
/// Cloning is free: clones and views share elements until one of them is written to.
///
/// An operator reuses the buffer of an operand passed by value, on either side, if it is not shared
/// and the result fits: `x + &y`, `&y - x`, `2.0 * x`, `-x`. (This page lists the operators of
/// `&Tensor` alone.) Methods borrow self even if it is not used again, as in PyTorch; their in-place
/// form, or [`fuse!`](crate::fuse), which computes everything in one pass, needs no new buffer.
///
/// ```
/// # use nomina::prelude::*;
/// # dims! { N }
/// # let (a, b) = (tensor!([1., 2.]; N), tensor!([0., 0.]; N));
/// let mut y = &a * &b;
/// y.exp_();
/// assert_eq!(y.to_vec(), fuse!(|a, b| (a * b).exp()).to_vec());
/// ```
///
/// # Forms of a method
///
/// This page lists each operator once, in groups by what they do. Its other forms have the same parameters, and editors
/// complete them all:
///
/// | form | example | |
/// |---|---|---|
/// | `try_…` | `x.try_sum(C)` | returns the error instead of panicking |
/// | `…_with` | `x.sum_with(C, options)` | takes the operator's options, a struct with defaults |
/// | `…_` | `x.exp_()` | in place; writes the result to `x` |
/// | `…_out` | `x.sum_out(C, &mut out)` | writes the result to `out` |
/// | `…_from` | `x.bernoulli_from(Some(&mut generator))` | draws from this generator |
///
/// They combine: `x.try_sum_with_out(C, options, &mut out)`. `docs/operators.md` lists the forms of each operator.
pub struct Tensor<D: Dims, T: Element = f32> {
    erased: Erased,
    _types: <(D, T) as Types>::Nothing,
}

/// Holds the types of a tensor as `()`. Debug builds describe the type of every field, and a
/// distinct `PhantomData` for every tensor type would need more debug information than everything
/// else in it.
trait Types {
    type Nothing;
}

impl<D, T> Types for (D, T) {
    type Nothing = ();
}

impl<D: Dims, T: Element> Clone for Tensor<D, T> {
    fn clone(&self) -> Self {
        Self::kept(self.erased.clone())
    }
}

// Functions that only change types are inlined also in debug builds; otherwise they would be
// compiled again, with debug information, for every type that a program uses.
impl<D: Dims, T: Element> Tensor<D, T> {
    /// Gives a result the types that its operator computed. In debug builds, it records as origin
    /// the call of the first function on the way here without `#[track_caller]`, which is the
    /// user's.
    #[inline(always)]
    #[cfg_attr(debug_assertions, track_caller)]
    pub(crate) fn from_erased(erased: Erased) -> Self {
        #[cfg(debug_assertions)]
        let erased = erased.here();
        if profile::is_on() {
            erased.named(D::STATIC);
        }
        Self::kept(erased)
    }

    /// Like [`from_erased`](Self::from_erased), but keeps the recorded origin: for a copy, or the
    /// argument of a closure.
    #[inline(always)]
    pub(crate) fn kept(erased: Erased) -> Self {
        debug_assert!(
            erased.fits(D::STATIC, T::DTYPE),
            "types and values disagree: {erased:?}"
        );
        Self { erased, _types: () }
    }

    /// Calls [`from_erased`](Self::from_erased) for each.
    #[cfg_attr(debug_assertions, track_caller)]
    fn all_from_erased(all: Vec<Erased>) -> Result<Vec<Self>> {
        let mut tensors = list("split", [all.len()])?;
        for erased in all {
            tensors.push(Self::from_erased(erased));
        }
        Ok(tensors)
    }

    /// Like [`from_erased`](Self::from_erased), but of the result of a dynamic operator.
    #[cfg_attr(debug_assertions, track_caller)]
    pub(crate) fn try_from_dyn(result: Result<DynTensor>) -> Result<Self> {
        Self::try_from_erased(result.map(|found| compose::erase(found, D::STATIC)))
    }

    /// Like [`from_erased`](Self::from_erased), but of a result that may be an error.
    #[inline(always)]
    #[cfg_attr(debug_assertions, track_caller)]
    pub(crate) fn try_from_erased(result: Result<Erased>) -> Result<Self> {
        match result {
            Ok(erased) => Ok(Self::from_erased(erased)),
            Err(error) => Err(error),
        }
    }

    /// Returns the tensor without its types, for the functions of [`crate::erased`].
    #[inline(always)]
    pub(crate) fn erased(&self) -> ErasedRef<'_> {
        self.erased.erased(D::STATIC)
    }

    /// Returns the tensor as an operand.
    #[inline(always)]
    pub(crate) fn as_operand(&self) -> OperandRef<'_> {
        OperandRef::Tensor(self.erased())
    }

    /// Returns the tensor as the destination of an in-place operator; copies the buffer first if it
    /// is shared.
    #[inline(always)]
    fn dest(&mut self) -> Result<Dest<'_>> {
        self.erased.dest(D::STATIC)
    }
}

/// Returns the position of a dim, which the tensor has.
#[inline(always)]
fn at<X: OneDim, D: Dims, T: Element>(_dim: &X, _of: &Tensor<D, T>) -> usize {
    position::<X, D>()
}

#[cfg(feature = "labels")]
impl Picked {
    /// Converts to the dims by position.
    pub(crate) fn to_arg(self) -> nomina_core::rule::DimArg<'static> {
        use nomina_core::rule::DimArg;
        let dims = if self.all {
            DimArg::all()
        } else {
            DimArg::list(self.at.iter().map(|dim| *dim as i64))
        };
        dims.with_keepdim(self.keepdim)
    }
}

/// The dims of `D` that an argument selects, as types know them.
trait Picking<D> {
    const PICKED: Picked;
}

impl<A: Axes, D: Dims> Picking<D> for A {
    const PICKED: Picked = Picked {
        at: positions::<A, D>(),
        all: A::ALL,
        keepdim: A::KEEPDIM,
    };
}

/// Like [`Picking`], but of an argument value.
#[inline(always)]
pub(crate) fn picked<A: Axes, D: Dims>(_dims: &A) -> Picked {
    <A as Picking<D>>::PICKED
}

include!("generated.rs");
