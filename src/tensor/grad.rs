//! Gradients: leaves, the backward pass, and the gradients that leaves accumulate.
//!
//! [`Tensor::requires_grad`], [`Tensor::requires_grad_`], [`Tensor::with_grad`], [`Tensor::is_leaf`], [`Tensor::grad`],
//! [`Tensor::take_grad`], [`Tensor::set_grad`], [`Tensor::zero_grad`], [`Tensor::retain_grad`], [`Tensor::backward`], [`Tensor::backward_with`],
//! [`Tensor::register_hook`], [`Tensor::register_post_accumulate_grad_hook`].

use nomina_core::dims::Dims;
use nomina_core::{Element, Float, Inexact, Result, Scalar};
use nomina_macros::twin;
use nomina_runtime::grad::{self, BackwardOptions, HookHandle};
use nomina_runtime::{Raw, call};

use super::Tensor;
use crate::erased::{Erased, explain};

/// A loss: a tensor without dims, a single number.
#[diagnostic::on_unimplemented(
    message = "backward starts from one number, and this tensor has dims {Self}",
    label = "not one number",
    note = "take its sum or its mean first, or give a gradient to start from: `y.backward_with(&seed, default())`"
)]
pub trait OneNumber: Dims {}
#[diagnostic::do_not_recommend]
impl OneNumber for () {}

/// A dtype that has gradients: floats and complex numbers.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no gradient: only floats and complex have gradients",
    label = "neither float nor complex",
    note = "convert it first: `x.to::<f32>()`"
)]
pub trait HasGradient: Inexact {}
#[diagnostic::do_not_recommend]
impl<T: Inexact> HasGradient for T {}

/// # Gradients
impl<D: Dims, T: Element> Tensor<D, T> {
    /// Returns whether results computed from this tensor are recorded.
    #[must_use]
    pub fn requires_grad(&self) -> bool {
        self.erased.raw.requires_grad()
    }

    /// Returns whether no recorded operator computed this tensor; true also for tensors that are not recorded.
    #[must_use]
    pub fn is_leaf(&self) -> bool {
        self.erased.raw.is_leaf()
    }

    /// Makes this tensor a leaf: results computed from it are recorded from now on, and `backward` stores its gradient
    /// here. Clones are the same leaf.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C }
    /// let x = tensor!([[1., 2.], [3., 4.]]; N, C);
    /// let mut w = tensor!([10., 20.]; C);
    /// w.requires_grad_();
    /// (&x * &w).sum(..).backward();
    /// let g: Tensor<(C,)> = w.grad().unwrap();
    /// assert_eq!(g.to_vec(), [4.0, 6.0]);
    /// ```
    ///
    /// # Errors
    /// If the tensor was computed of one that is recorded, or memory runs out.
    #[twin]
    pub fn try_requires_grad_(&mut self) -> Result<&mut Self>
    where
        T: HasGradient,
    {
        let made = self.erased.raw.requires_grad_();
        made.map_err(|error| self.erased().blame(error))?;
        Ok(self)
    }

    /// Returns this tensor as a leaf; see [`requires_grad_`](Self::requires_grad_).
    ///
    /// # Errors
    /// If the tensor was computed of one that is recorded, or memory runs out.
    #[twin]
    pub fn try_with_grad(mut self) -> Result<Self>
    where
        T: HasGradient,
    {
        self.try_requires_grad_()?;
        Ok(self)
    }

    /// Returns the gradient that `backward` stored in a leaf; `None` before.
    #[must_use]
    #[cfg_attr(debug_assertions, track_caller)]
    pub fn grad(&self) -> Option<Self> {
        Some(self.beside(self.erased.raw.grad()?))
    }

    /// Takes the gradient out of the leaf.
    #[must_use]
    #[cfg_attr(debug_assertions, track_caller)]
    pub fn take_grad(&self) -> Option<Self> {
        Some(self.beside(self.erased.raw.take_grad()?))
    }

    #[cfg_attr(debug_assertions, track_caller)]
    fn beside(&self, raw: Raw) -> Self {
        let wild = self.erased.wild.clone();
        Self::from_erased(Erased { raw, wild })
    }

    /// Sets the gradient, replacing any other.
    ///
    /// # Errors
    /// If the tensor is not a leaf, or the gradient has other sizes or is on another device.
    #[twin]
    pub fn try_set_grad(&self, grad: &Self) -> Result<()> {
        let done = self.erased.raw.set_grad(grad.erased.raw.clone());
        done.map_err(|error| explain(error, &[self.erased(), grad.erased()]))
    }

    /// Removes the gradient.
    pub fn zero_grad(&self) {
        drop(self.take_grad());
    }

    /// Makes `backward` also store a gradient in this tensor, which is not a leaf.
    pub fn retain_grad(&self) {
        self.erased.raw.retain_grad();
    }

    /// Adds the gradients of this number to those of the leaves it was computed from. Consumes the graph.
    ///
    /// # Errors
    /// If nothing was recorded, an operator has no derivative, or memory runs out. No gradient is changed in that case.
    #[twin]
    pub fn try_backward(&self) -> Result<()>
    where
        D: OneNumber,
        T: Float,
    {
        let raw = &self.erased.raw;
        let one = call::full(raw.shape(), Scalar::Float(1.0), raw.dtype(), raw.device())?;
        let done = grad::backward(raw, one, BackwardOptions::default());
        done.map_err(|error| self.erased().blame(error))
    }

    /// Like [`backward`](Self::backward), but from any tensor, whose own gradient is `seed`.
    ///
    /// # Errors
    /// If sizes differ, nothing was recorded, an operator has no derivative, or memory runs out. No gradient is changed
    /// in that case.
    #[twin]
    pub fn try_backward_with(&self, seed: &Self, options: BackwardOptions) -> Result<()>
    where
        T: Inexact,
    {
        let done = grad::backward(&self.erased.raw, seed.erased.raw.clone(), options);
        done.map_err(|error| explain(error, &[self.erased(), seed.erased()]))
    }

    /// Calls `hook` with each gradient that reaches this tensor, before it propagates further; the value of the hook
    /// replaces it. If the hook panics, no gradient has changed.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N }
    /// let x = tensor!([1., 2.]; N).with_grad();
    /// let y = &x * 3.0;
    /// let hook = y.register_hook(|g: &Tensor<(N,)>| Some(g * 10.0));
    /// y.sum(..).backward();
    /// assert_eq!(x.grad().unwrap().to_vec(), [30.0, 30.0]);
    /// hook.remove();
    /// ```
    ///
    /// # Errors
    /// If the tensor is not recorded.
    #[twin]
    pub fn try_register_hook(
        &self,
        hook: impl Fn(&Self) -> Option<Self> + Send + Sync + 'static,
    ) -> Result<HookHandle> {
        let wild = self.erased.wild.clone();
        let untyped = move |raw: &Raw| {
            let (raw, wild) = (raw.clone(), wild.clone());
            let other = hook(&Self::kept(Erased { raw, wild }));
            Ok(other.map(|other| other.erased.raw))
        };
        let done = self.erased.raw.register_hook(untyped);
        done.map_err(|error| self.erased().blame(error))
    }

    /// Calls `hook` with the gradient of this leaf each time after `backward` has written it.
    ///
    /// # Errors
    /// If the tensor is not a leaf.
    #[twin]
    pub fn try_register_post_accumulate_grad_hook(
        &self,
        hook: impl Fn(&Self) + Send + Sync + 'static,
    ) -> Result<HookHandle> {
        let wild = self.erased.wild.clone();
        let untyped = move |raw: &Raw| {
            let (raw, wild) = (raw.clone(), wild.clone());
            hook(&Self::kept(Erased { raw, wild }));
            Ok(())
        };
        let done = self.erased.raw.register_post_accumulate_grad_hook(untyped);
        done.map_err(|error| self.erased().blame(error))
    }
}
