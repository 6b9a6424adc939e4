//! `cat` and `stack`: joining tensors along an existing or a new dim.

use nomina_core::dims::{DimOf, Dims, Insert, Inserted, OneDim, Resizable, SizeOf, position};
use nomina_core::{Element, Result};
use nomina_macros::twin;
use nomina_runtime::memory::list;

use super::Tensor;
use crate::erased::{Erased, ErasedRef, Known, join};

/// Tensors to join: a slice or an array of references to tensors of one type, a slice of tensors,
/// or a tuple of references to tensors whose dims unify and whose dtypes promote.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a list of tensors",
    label = "expected `&[&a, &b]`, or a tuple `(&a, &b)`"
)]
pub trait TensorList {
    /// The dims of the first tensor, in which the dim to join along is looked up.
    type First: Dims;
    /// The unified dims of all tensors.
    type Dims: Dims;
    /// The common dtype.
    type Dtype: Element;
    #[doc(hidden)]
    fn operands(&self, op: &'static str) -> Result<Vec<ErasedRef<'_>>>;
}

/// Lists of tensors that can be joined: their ranks are equal and their dims unify.
pub trait Joinable: TensorList {}
impl<L: JoinEach + ?Sized> Joinable for L {}

/// Like [`Joinable`], for each kind of list.
pub trait JoinEach: TensorList {}

/// A tensor or a reference to one: an element of a list to join.
pub trait TensorItem {
    /// The dims of the tensor.
    type Dims: Dims;
    /// The dtype of the tensor.
    type Dtype: Element;
    #[doc(hidden)]
    fn item_look(&self) -> ErasedRef<'_>;
}

impl<D: Dims, T: Element> TensorItem for Tensor<D, T> {
    type Dims = D;
    type Dtype = T;
    #[inline(always)]
    fn item_look(&self) -> ErasedRef<'_> {
        self.erased.erased(D::STATIC)
    }
}

impl<I: TensorItem> TensorItem for &I {
    type Dims = I::Dims;
    type Dtype = I::Dtype;
    #[inline(always)]
    fn item_look(&self) -> ErasedRef<'_> {
        (**self).item_look()
    }
}

impl<I: TensorItem> JoinEach for [I] {}
impl<I: TensorItem> TensorList for [I] {
    type First = I::Dims;
    type Dims = I::Dims;
    type Dtype = I::Dtype;
    fn operands(&self, op: &'static str) -> Result<Vec<ErasedRef<'_>>> {
        let mut operands = list(op, [self.len()])?;
        // Not an iterator, whose adapters would be compiled for every list.
        let mut i = 0;
        while i < self.len() {
            operands.push(self[i].item_look());
            i += 1;
        }
        Ok(operands)
    }
}

impl<I: TensorItem> JoinEach for Vec<I> {}
impl<I: TensorItem> TensorList for Vec<I> {
    type First = I::Dims;
    type Dims = I::Dims;
    type Dtype = I::Dtype;
    #[inline(always)]
    fn operands(&self, op: &'static str) -> Result<Vec<ErasedRef<'_>>> {
        self[..].operands(op)
    }
}

impl<I: TensorItem, const K: usize> JoinEach for [I; K] {}
impl<I: TensorItem, const K: usize> TensorList for [I; K] {
    type First = I::Dims;
    type Dims = I::Dims;
    type Dtype = I::Dtype;
    #[inline(always)]
    fn operands(&self, op: &'static str) -> Result<Vec<ErasedRef<'_>>> {
        (self as &[I]).operands(op)
    }
}

impl<L: JoinEach + ?Sized> JoinEach for &L {}
impl<L: TensorList + ?Sized> TensorList for &L {
    type First = L::First;
    type Dims = L::Dims;
    type Dtype = L::Dtype;
    #[inline(always)]
    fn operands(&self, op: &'static str) -> Result<Vec<ErasedRef<'_>>> {
        (**self).operands(op)
    }
}

/// Joins tensors along an existing dim.
///
/// ```
/// use nomina::prelude::*;
/// dims! { N, C }
/// let a = tensor!([[1., 2.]]; N, C);
/// let b = tensor!([[3., 4.]]; N, C);
/// assert_eq!(cat(&[&a, &b], N).shape(), [2, 2]);
/// assert_eq!(cat((&a, &b), C).to_vec(), [1.0, 2.0, 3.0, 4.0]);
/// ```
///
/// # Errors
/// If there is no tensor, or sizes do not match.
#[twin(free)]
pub fn try_cat<L: Joinable, X: DimOf<L::First>>(
    tensors: L,
    dim: X,
) -> Result<Tensor<L::Dims, L::Dtype>>
where
    SizeOf<X>: Resizable<X>,
{
    let _ = dim;
    Tensor::try_from_erased(joined::<L, X>(&tensors))
}

#[inline(always)]
fn joined<L: TensorList, X: OneDim>(tensors: &L) -> Result<Erased> {
    let (at, out) = (position::<X, L::First>(), <L::Dims>::STATIC);
    join::cat(&tensors.operands("cat")?, at, out)
}

/// Joins tensors of equal sizes along a new first dim.
///
/// ```
/// use nomina::prelude::*;
/// dims! { N, K }
/// let a = tensor!([1., 2.]; N);
/// let both: Tensor<(K, N)> = stack(&[&a, &a], K);
/// assert_eq!(both.shape(), [2, 2]);
/// ```
///
/// # Errors
/// If there is no tensor, or sizes differ.
#[twin(free)]
pub fn try_stack<L: Joinable, X: OneDim + Insert<L::Dims>>(
    tensors: L,
    dim: X,
) -> Result<Tensor<Inserted<L::Dims, X>, L::Dtype>> {
    let _ = dim;
    let out = <Inserted<L::Dims, X>>::STATIC;
    Tensor::try_from_erased(join::stack(&tensors.operands("stack")?, out))
}
