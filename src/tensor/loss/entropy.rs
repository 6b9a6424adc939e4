//! Cross entropies.
//!
//! [`Tensor::cross_entropy`], [`Tensor::nll_loss`], [`Tensor::binary_cross_entropy`],
//! [`Tensor::binary_cross_entropy_with_logits`].
#![allow(
    clippy::multiple_bound_locations,
    reason = "the bound on targets is checked first, for its message"
)]

use nomina_core::dims::{Broadcast, Dim, DimOf, Dims, HoldsInPlace, Sum, Without};
use nomina_core::{Element, Float, Integer, Result};
use nomina_macros::twin;
use nomina_runtime::DynTensor;
use nomina_runtime::tensor as dynamic;

use super::reduction::{Mean, Reduce};
use crate::erased::{Known, compose, loss};
use crate::tensor::{Tensor, at};

/// Options of `cross_entropy_with` and `nll_loss_with`: a weight along the dim of classes, `L`.
pub struct CrossEntropyOptions<'a, L: Dims, T: Element> {
    /// A weight for each class.
    pub weight: Option<&'a Tensor<L, T>>,
    /// A target that is ignored.
    pub ignore_index: i64,
    /// The part of each target that is spread over all classes.
    pub label_smoothing: f64,
}

/// Options of `binary_cross_entropy_with` and `binary_cross_entropy_with_logits_with`: weights with
/// dims `W`. `default()` has none; with a weight, write both fields.
pub struct BinaryCrossEntropyOptions<'a, W: Dims, T: Element> {
    /// A weight for each element.
    pub weight: Option<&'a Tensor<W, T>>,
    /// A weight of positive targets, for logits.
    pub pos_weight: Option<&'a Tensor<W, T>>,
}

// Derives would add bounds on dims and dtypes that are not needed.
macro_rules! copies {
    ($($name:ident { $($field:ident),* })*) => {$(
        impl<L: Dims, T: Element> Clone for $name<'_, L, T> {
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<L: Dims, T: Element> Copy for $name<'_, L, T> {}
        impl<L: Dims, T: Element> std::fmt::Debug for $name<'_, L, T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($name))
                    $(.field(stringify!($field), &self.$field))*
                    .finish()
            }
        }
    )*};
}

copies! {
    CrossEntropyOptions { weight, ignore_index, label_smoothing }
    BinaryCrossEntropyOptions { weight, pos_weight }
}

impl<L: Dims, T: Element> Default for CrossEntropyOptions<'_, L, T> {
    fn default() -> Self {
        let dynamic::CrossEntropyOptions {
            weight: _,
            ignore_index,
            label_smoothing,
        } = dynamic::CrossEntropyOptions::default();
        Self {
            weight: None,
            ignore_index,
            label_smoothing,
        }
    }
}

/// No weights; only for dims `()`, so that `default()` needs no type.
impl<T: Element> Default for BinaryCrossEntropyOptions<'_, (), T> {
    fn default() -> Self {
        Self {
            weight: None,
            pos_weight: None,
        }
    }
}

impl<L: Dims, T: Element> CrossEntropyOptions<'_, L, T> {
    fn dynamic<'a>(&self, weight: Option<&'a DynTensor>) -> dynamic::CrossEntropyOptions<'a> {
        dynamic::CrossEntropyOptions {
            weight,
            ignore_index: self.ignore_index,
            label_smoothing: self.label_smoothing,
        }
    }
}

/// A dtype of targets: integers are class indices and lack the dim of classes, floats are
/// probabilities and have it.
#[diagnostic::on_unimplemented(
    message = "dtype `{Self}` holds neither classes nor probabilities",
    label = "expected an integer or a float dtype"
)]
pub trait Targets: Element {
    /// [`ClassIndices`] or [`Probabilities`].
    type Kind;
    /// The dims that targets are combined with, for logits of dims `D` with classes along `X`.
    type Beside<D: Dims, X: Dim>: Dims;
    /// The dims of elementwise losses, given those unified with the targets', `S`.
    type Rows<S: Dims, X: Dim>: Dims;
}

/// Class indices, which lack the dim of classes.
#[derive(Clone, Copy, Debug)]
pub enum ClassIndices {}

/// Probabilities, which have the dim of classes.
#[derive(Clone, Copy, Debug)]
pub enum Probabilities {}

/// Targets with dims `E` fit logits of dims `D` with classes along `X`.
pub trait TargetDims<D, E, X> {}
impl<U: Targets<Kind: KindOfTargets<D, E, X>>, D, E, X> TargetDims<D, E, X> for U {}

/// [`TargetDims`] for a kind of targets.
#[diagnostic::on_unimplemented(
    message = "float targets are a probability for each class, but dims {E} are not dims {D}",
    label = "if they are class numbers: `labels.long()`"
)]
pub trait KindOfTargets<D, E, X> {}
impl<D: Dims, E: Dims, X: Dim> KindOfTargets<D, E, X> for ClassIndices where
    Without<D, X>: Broadcast<E>
{
}
// The message about two dims that do not match would suggest to align the targets.
#[diagnostic::do_not_recommend]
impl<D: Dims + Broadcast<E>, E: Dims, X: Dim> KindOfTargets<D, E, X> for Probabilities {}

macro_rules! targets {
    ($($t:ty)*; $kind:ty, $beside:ty, $rows:ty) => {$(
        #[diagnostic::do_not_recommend]
        impl Targets for $t {
            type Kind = $kind;
            type Beside<D: Dims, X: Dim> = $beside;
            type Rows<S: Dims, X: Dim> = $rows;
        }
    )*};
}
targets!(u8 i8 i16 i32 i64; ClassIndices, Without<D, X>, S);
targets!(half::f16 half::bf16 f32 f64; Probabilities, D, Without<S, X>);

/// The dims of elementwise losses.
type Rows<U, D, E, X> = <U as Targets>::Rows<Sum<<U as Targets>::Beside<D, X>, E>, X>;

/// # Classification losses
impl<D: Dims, T: Element> Tensor<D, T> {
    /// Computes the mean cross entropy of logits along a dim, against the index of the true class
    /// or against probabilities, which also have that dim.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// use nomina::reduction;
    /// dims! { N, C }
    /// let logits = tensor!([[2., 0.], [0., 0.]]; N, C);
    /// let classes = tensor!([0, 1]; N);
    /// let each: Tensor<(N,)> = logits.cross_entropy_with(&classes, C, reduction::None, default());
    /// assert!((logits.cross_entropy(&classes, C).item() - 0.41).abs() < 0.01);
    /// ```
    ///
    /// # Errors
    /// If sizes, dtypes, devices, or names known only at run time do not match.
    #[twin]
    pub fn try_cross_entropy<E: Dims, U: Targets, X: DimOf<D>>(
        &self,
        target: &Tensor<E, U>,
        dim: X,
    ) -> Result<Tensor<(), T>>
    where
        U: TargetDims<D, E, X>,
        T: Float,
    {
        self.try_cross_entropy_with(target, dim, Mean, CrossEntropyOptions::default())
    }

    /// Like [`cross_entropy`](Self::cross_entropy), but with the given reduction and weights.
    ///
    /// # Errors
    /// If sizes, dtypes, devices, or names known only at run time do not match.
    #[twin]
    pub fn try_cross_entropy_with<E: Dims, U: Targets, X: DimOf<D>, R: Reduce>(
        &self,
        target: &Tensor<E, U>,
        dim: X,
        reduction: R,
        options: CrossEntropyOptions<'_, (X,), T>,
    ) -> Result<Tensor<R::Of<Rows<U, D, E, X>>, T>>
    where
        U: TargetDims<D, E, X>,
        T: Float,
    {
        let _ = reduction;
        let at = at(&dim, self);
        let weight = options.weight.map(Tensor::erased);
        Tensor::try_from_erased(loss::weighted(
            self.erased(),
            target.erased(),
            [weight, None],
            <R::Of<Rows<U, D, E, X>>>::STATIC,
            |x, target, [weight, _]| {
                x.cross_entropy_with(target, at, R::REDUCTION, options.dynamic(weight))
            },
        ))
    }

    /// Computes the mean of the negated numbers at the targets along a dim.
    ///
    /// # Errors
    /// If sizes, dtypes, devices, or names known only at run time do not match.
    #[twin]
    pub fn try_nll_loss<E: Dims, U: Targets + Integer, X: DimOf<D>>(
        &self,
        target: &Tensor<E, U>,
        dim: X,
    ) -> Result<Tensor<(), T>>
    where
        U::Beside<D, X>: Broadcast<E>,
        T: Float,
    {
        self.try_nll_loss_with(target, dim, Mean, CrossEntropyOptions::default())
    }

    /// Like [`nll_loss`](Self::nll_loss), but with the given reduction and weights.
    ///
    /// # Errors
    /// If sizes, dtypes, devices, or names known only at run time do not match.
    #[twin]
    pub fn try_nll_loss_with<E: Dims, U: Targets + Integer, X: DimOf<D>, R: Reduce>(
        &self,
        target: &Tensor<E, U>,
        dim: X,
        reduction: R,
        options: CrossEntropyOptions<'_, (X,), T>,
    ) -> Result<Tensor<R::Of<Rows<U, D, E, X>>, T>>
    where
        U::Beside<D, X>: Broadcast<E>,
        T: Float,
    {
        let _ = reduction;
        let at = at(&dim, self);
        let weight = options.weight.map(Tensor::erased);
        Tensor::try_from_erased(loss::weighted(
            self.erased(),
            target.erased(),
            [weight, None],
            <R::Of<Rows<U, D, E, X>>>::STATIC,
            |x, target, [weight, _]| {
                x.nll_loss_with(target, at, R::REDUCTION, options.dynamic(weight))
            },
        ))
    }

    /// Computes the mean cross entropy of probabilities of two classes.
    ///
    /// # Errors
    /// If sizes, dtypes, devices, or names known only at run time do not match.
    #[twin]
    pub fn try_binary_cross_entropy<E: Dims>(&self, target: &Tensor<E, T>) -> Result<Tensor<(), T>>
    where
        D: Broadcast<E>,
        T: Float,
    {
        let operands = [self.erased(), target.erased()];
        Tensor::try_from_erased(compose::call_for_tensor(&operands, <()>::STATIC, |given| {
            given[0].binary_cross_entropy(&given[1])
        }))
    }

    /// Like [`binary_cross_entropy`](Self::binary_cross_entropy), but with the given reduction and
    /// weights.
    ///
    /// # Errors
    /// If sizes, dtypes, devices, or names known only at run time do not match.
    #[twin]
    pub fn try_binary_cross_entropy_with<E: Dims, W: Dims, R: Reduce>(
        &self,
        target: &Tensor<E, T>,
        reduction: R,
        options: BinaryCrossEntropyOptions<'_, W, T>,
    ) -> Result<Tensor<R::Of<Sum<D, E>>, T>>
    where
        D: Broadcast<E>,
        T: Float,
        Sum<D, E>: Broadcast<W> + HoldsInPlace<Sum<Sum<D, E>, W>>,
    {
        let _ = reduction;
        let weights = [options.weight, options.pos_weight].map(|weight| weight.map(Tensor::erased));
        Tensor::try_from_erased(loss::weighted(
            self.erased(),
            target.erased(),
            weights,
            <R::Of<Sum<D, E>>>::STATIC,
            |x, target, [weight, pos_weight]| {
                x.binary_cross_entropy_with(
                    target,
                    R::REDUCTION,
                    dynamic::BinaryCrossEntropyOptions { weight, pos_weight },
                )
            },
        ))
    }

    /// Computes the mean cross entropy of logits of two classes.
    ///
    /// # Errors
    /// If sizes, dtypes, devices, or names known only at run time do not match.
    #[twin]
    pub fn try_binary_cross_entropy_with_logits<E: Dims>(
        &self,
        target: &Tensor<E, T>,
    ) -> Result<Tensor<(), T>>
    where
        D: Broadcast<E>,
        T: Float,
    {
        let operands = [self.erased(), target.erased()];
        Tensor::try_from_erased(compose::call_for_tensor(&operands, <()>::STATIC, |given| {
            given[0].binary_cross_entropy_with_logits(&given[1])
        }))
    }

    /// Like [`binary_cross_entropy_with_logits`](Self::binary_cross_entropy_with_logits), but with
    /// the given reduction and weights.
    ///
    /// # Errors
    /// If sizes, dtypes, devices, or names known only at run time do not match.
    #[twin]
    pub fn try_binary_cross_entropy_with_logits_with<E: Dims, W: Dims, R: Reduce>(
        &self,
        target: &Tensor<E, T>,
        reduction: R,
        options: BinaryCrossEntropyOptions<'_, W, T>,
    ) -> Result<Tensor<R::Of<Sum<D, E>>, T>>
    where
        D: Broadcast<E>,
        T: Float,
        Sum<D, E>: Broadcast<W> + HoldsInPlace<Sum<Sum<D, E>, W>>,
    {
        let _ = reduction;
        let weights = [options.weight, options.pos_weight].map(|weight| weight.map(Tensor::erased));
        Tensor::try_from_erased(loss::weighted(
            self.erased(),
            target.erased(),
            weights,
            <R::Of<Sum<D, E>>>::STATIC,
            |x, target, [weight, pos_weight]| {
                x.binary_cross_entropy_with_logits_with(
                    target,
                    R::REDUCTION,
                    dynamic::BinaryCrossEntropyOptions { weight, pos_weight },
                )
            },
        ))
    }
}
