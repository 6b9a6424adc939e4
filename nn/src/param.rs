//! Parameters: tensors that are trained.

use std::fmt;
use std::ops::Deref;

use nomina::dims::{Dims, Distinct};
use nomina::{DynTensor, Element, Error, ErrorKind, Inexact, Result, Tensor, no_grad};
use nomina_macros::twin;

use crate::call::ok;
use crate::dtype::InDtype;
use crate::identity::Identity;
use crate::module::{Module, Slot, replaced};
use crate::path::Path;

/// A trained tensor: a leaf, whose gradient an optimizer uses and clears. It dereferences to its [`Tensor`], and is
/// an operand like it.
///
/// Clones are the same leaf, like clones of tensors; [`Module::fork`] creates a model with new leaves. To use one
/// weight in two places, store it once and borrow it in both.
///
/// An optimizer looks up its state for a parameter by the parameter's [`Identity`], wherever the parameter is in a
/// model: momentum moves with it when a layer is removed, inserted or swapped, and is kept when the model loads a file,
/// moves to another device, or is temporarily frozen. A new `Param` and each parameter of a fork start without state.
///
/// ```
/// use nomina::prelude::*;
/// use nomina_nn::prelude::*;
/// dims! { N }
/// let w = Param::new(tensor!([1., 2.]; N));
/// (&w * &w).sum(..).backward();
/// assert_eq!(w.grad().unwrap().to_vec(), [2.0, 4.0]);
/// ```
pub struct Param<D: Dims, T: Element = f32> {
    tensor: Tensor<D, T>,
    identity: Identity,
}

impl<D: Dims, T: Element> Clone for Param<D, T> {
    fn clone(&self) -> Self {
        Self {
            tensor: self.tensor.clone(),
            identity: self.identity.clone(),
        }
    }
}

impl<D: Dims, T: Inexact> Param<D, T> {
    /// Makes the tensor a new leaf, independent of its history.
    ///
    /// # Panics
    /// If a small allocation fails.
    #[must_use]
    #[track_caller]
    pub fn new(tensor: Tensor<D, T>) -> Self {
        let tensor = ok(tensor.detach().try_with_grad());
        Self {
            tensor,
            identity: Identity::new(),
        }
    }
}

impl<D: Dims + Distinct, T: Inexact> Param<D, T> {
    /// Copies other elements into the parameter. It stays the same leaf: its gradient, and an optimizer's state for it,
    /// stay. [`init`](crate::init) has functions that fill a parameter.
    ///
    /// # Errors
    /// If the sizes differ, or memory is missing.
    #[twin]
    pub fn try_set(&mut self, value: Tensor<D, T>) -> Result<()> {
        let value = value.into_dyn();
        if value.shape() != self.tensor.shape() {
            let error = Error::new(ErrorKind::Shape, "set", "sizes differ from the parameter's");
            return Err(error
                .operand(value.names(), value.shape())
                .operand(&self.tensor.names(), self.tensor.shape())
                .hint("give a tensor of the parameter's sizes"));
        }
        no_grad(|| self.tensor.try_as_dyn_mut()?.copy_(&value).map(drop))
    }
}

impl<D: Dims, T: Element> Param<D, T> {
    /// Wraps a tensor that other parameters were computed to, with its history, for one call of a layer.
    pub(crate) fn computed(tensor: Tensor<D, T>) -> Self {
        Self {
            tensor,
            identity: Identity::new(),
        }
    }

    /// Returns the tensor.
    #[must_use]
    pub fn into_inner(self) -> Tensor<D, T> {
        self.tensor
    }
}

#[diagnostic::do_not_recommend]
impl<D: Dims, T: Inexact, U: Inexact> InDtype<U> for Param<D, T> {
    type Out = Param<D, U>;
    fn try_in_dtype(&self) -> Result<Param<D, U>> {
        let mut tensor = self.tensor.detach().try_to()?;
        if self.tensor.requires_grad() {
            tensor.try_requires_grad_()?;
        }
        Ok(Param {
            tensor,
            identity: Identity::new(),
        })
    }
}

impl<D: Dims, T: Element> Deref for Param<D, T> {
    type Target = Tensor<D, T>;
    fn deref(&self) -> &Tensor<D, T> {
        &self.tensor
    }
}

impl<D: Dims, T: Element> fmt::Debug for Param<D, T>
where
    Tensor<D, T>: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Param").field(&self.tensor).finish()
    }
}

impl<D: Dims + Distinct, T: Inexact> Slot for Param<D, T> {
    fn is_param(&self) -> bool {
        true
    }
    fn to_dyn(&self) -> DynTensor {
        self.tensor.to_dyn()
    }
    fn identity(&self) -> Option<&Identity> {
        Some(&self.identity)
    }
    fn renew_identity(&mut self) {
        self.identity = Identity::new();
    }
    fn as_dyn_mut(&mut self) -> Result<nomina::dynamic::DynTensorMut<'_>> {
        self.tensor.try_as_dyn_mut()
    }
    fn set(&mut self, value: DynTensor) -> Result<()> {
        let tracked = self.tensor.requires_grad();
        let tensor = replaced(&self.tensor, value)?;
        self.tensor = if tracked {
            tensor.try_with_grad()?
        } else {
            tensor
        };
        Ok(())
    }
    fn track(&mut self, tracked: bool) -> Result<()> {
        if tracked != self.tensor.requires_grad() {
            self.tensor.detach_();
            if tracked {
                self.tensor.try_requires_grad_()?;
            }
        }
        Ok(())
    }
}

#[diagnostic::do_not_recommend]
impl<D: Dims + Distinct, T: Inexact> Module for Param<D, T> {
    fn each<'a>(&'a self, path: &mut Path, visit: &mut dyn FnMut(&str, &'a dyn Slot)) {
        visit(path.as_str(), self);
    }
    fn each_mut<'a>(&'a mut self, path: &mut Path, visit: &mut dyn FnMut(&str, &'a mut dyn Slot)) {
        visit(path.as_str(), self);
    }
}
