//! The typed tensor, family by family.
//!
//! Everything here is a method of [`Tensor`], a few are of [`TensorMut`] and
//! [`Sparse`](sparse::Sparse), and every type and function is at the root of the crate, too: no
//! program needs to spell these modules. They say what belongs together, each with the list of its
//! methods, and rustc names them where an argument does not fit. What is regular (elementwise
//! operators, reductions, `softmax` and the like) stands here itself; `docs/operators.md` lists all.

pub mod activation;
pub mod addmm;
pub mod analysis;
mod arithmetic;
pub mod attribute;
pub mod conv;
pub mod convert;
pub mod data;
pub mod dynamic;
pub mod einsum;
pub mod elementwise;
pub mod extreme;
pub mod factory;
pub mod factory_out;
#[cfg(feature = "fft")]
pub mod fft;
pub mod flatten;
mod fold;
mod format;
pub mod fused;
pub mod gather;
pub mod grad;
pub mod index;
pub mod into;
pub mod join;
pub mod like;
#[cfg(feature = "linalg")]
pub mod linalg;
pub mod loss;
pub mod mask;
#[cfg(feature = "ndarray")]
mod ndarray;
pub mod norm;
pub mod operand;
pub mod options;
pub mod order;
pub mod others;
pub mod out_pairs;
pub mod parametric;
pub mod part;
pub mod parts;
pub mod product;
pub mod query;
pub mod random;
pub mod random_factory;
pub mod reduce;
pub mod refused;
pub mod sample;
#[cfg(feature = "serde")]
mod serde;
pub mod shape;
pub mod sort;
pub mod sparse;
pub mod stat;
pub mod view;

use nomina_core::dims::{Axes, Dims, OneDim, position, positions};
use nomina_core::{Element, Result};
use nomina_runtime::{DynTensor, profile};

use gather::{EachPoint, Points};
use index::{AsPick, EachSubscript, Indices, Part, SubscriptViews, Subscripts, SubscriptsOf};
use join::{JoinEach, TensorItem, TensorList};
use operand::{Absorb, AsBool, AsDouble, AsFloat, Combine, Operand, OutDims, OutDtype};
use part::TensorMut;
use reduce::ReduceOptions;
use view::Whole;

use crate::call::{Dest, Erased, ErasedRef, Known, OperandRef, compose, reduce::Picked};

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
/// An operator writes into the buffer of an operand that is given away, on either side of it, where
/// nobody else sees that and the result fits: `x + &y`, `&y - x`, `2.0 * x`, `-x`. Methods borrow
/// self, also one that is given away, as PyTorch's do; what follows them without a new buffer is
/// their form in place, or [`fuse!`](crate::fuse), which computes all of it in one pass.
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
    erased: Erased,
    _types: <(D, T) as Types>::Nothing,
}

/// What holds the types of a tensor: `()`, whatever they are. Debug builds describe the type of
/// every field, and a `PhantomData` of its own for every tensor type would be more to describe
/// than all else in it.
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

// What only changes types is inlined in debug builds too: as a function of its own it would be
// compiled again, with its debug information, for every type that a program uses.
impl<D: Dims, T: Element> Tensor<D, T> {
    /// Gives a result the types that its operator computed. In debug builds it remembers the call of the first function
    /// on the way here without `#[track_caller]`, which is the user's.
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

    /// [`from_erased`](Self::from_erased) of what was made before: a copy, the argument of a closure.
    #[inline(always)]
    pub(crate) fn kept(erased: Erased) -> Self {
        debug_assert!(
            erased.fits(D::STATIC, T::DTYPE),
            "types and values disagree: {erased:?}"
        );
        Self { erased, _types: () }
    }

    /// [`from_erased`](Self::from_erased) of each.
    #[cfg_attr(debug_assertions, track_caller)]
    fn all_from_erased(all: Vec<Erased>) -> Vec<Self> {
        let mut tensors = Vec::with_capacity(all.len());
        for erased in all {
            tensors.push(Self::from_erased(erased));
        }
        tensors
    }

    /// [`from_erased`](Self::from_erased) of what a dynamic operator gave.
    #[cfg_attr(debug_assertions, track_caller)]
    fn try_from_dyn(result: Result<DynTensor>) -> Result<Self> {
        Self::try_from_erased(result.map(|found| compose::erased(found, D::STATIC)))
    }

    /// [`from_erased`](Self::from_erased) for what may have failed.
    #[inline(always)]
    #[cfg_attr(debug_assertions, track_caller)]
    fn try_from_erased(result: Result<Erased>) -> Result<Self> {
        match result {
            Ok(erased) => Ok(Self::from_erased(erased)),
            Err(error) => Err(error),
        }
    }

    /// Without its types, for the functions of [`crate::call`].
    #[inline(always)]
    pub(crate) fn erased(&self) -> ErasedRef<'_> {
        self.erased.erased(D::STATIC)
    }

    /// As an operand.
    #[inline(always)]
    pub(crate) fn side(&self) -> OperandRef<'_> {
        OperandRef::Tensor(self.erased())
    }

    /// As what an in-place operator writes to; copied first if somebody else sees the buffer.
    #[inline(always)]
    fn dest(&mut self) -> Result<Dest<'_>> {
        self.erased.dest(D::STATIC)
    }
}

/// Where a dim stands, which the tensor has.
#[inline(always)]
fn at<X: OneDim, D: Dims, T: Element>(_dim: &X, _of: &Tensor<D, T>) -> usize {
    position::<X, D>()
}

/// What types know of an argument that picks dims of `D`.
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

/// The same, of an argument at hand.
#[inline(always)]
fn picked<A: Axes, D: Dims>(_dims: &A) -> Picked {
    <A as Picking<D>>::PICKED
}

include!("generated.rs");
