//! Buffers that layers update.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use nomina::dims::{Dims, Distinct};
use nomina::{DynTensor, Element, Result, Tensor};

use crate::module::{Module, Slot, replaced};
use crate::path::Path;

/// A tensor that is saved and loaded with a model and not trained, and that a layer can replace while it computes, such
/// as running statistics. A buffer that stays the same can be a plain [`Tensor`].
///
/// Clones are independent.
///
/// ```
/// use nomina::prelude::*;
/// use nomina_nn::{Buffer, prelude::*};
/// dims! { C }
/// let largest = Buffer::new(tensor!([0., 0.]; C));
/// largest.set(largest.get().maximum(tensor!([1., -1.]; C)));
/// assert_eq!(largest.get().to_vec(), [1.0, 0.0]);
/// ```
pub struct Buffer<D: Dims, T: Element = f32>(Mutex<Tensor<D, T>>);

impl<D: Dims, T: Element> Buffer<D, T> {
    /// Creates a buffer.
    #[must_use]
    pub const fn new(tensor: Tensor<D, T>) -> Self {
        Self(Mutex::new(tensor))
    }

    /// Returns the tensor, which shares its elements with the buffer until one of the two is written to.
    #[must_use]
    pub fn get(&self) -> Tensor<D, T> {
        self.lock().clone()
    }

    /// Replaces the tensor.
    pub fn set(&self, tensor: Tensor<D, T>) {
        *self.lock() = tensor;
    }

    /// Locks the tensor. Every value is whole, so a panic elsewhere did not leave a broken one.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Tensor<D, T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn get_mut(&mut self) -> &mut Tensor<D, T> {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<D: Dims, T: Element> Clone for Buffer<D, T> {
    fn clone(&self) -> Self {
        Self::new(self.get())
    }
}

impl<D: Dims, T: Element> fmt::Debug for Buffer<D, T>
where
    Tensor<D, T>: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Buffer").field(&*self.lock()).finish()
    }
}

impl<D: Dims + Distinct, T: Element> Slot for Buffer<D, T> {
    fn is_param(&self) -> bool {
        false
    }
    fn to_dyn(&self) -> DynTensor {
        self.lock().to_dyn()
    }
    fn as_dyn_mut(&mut self) -> Result<nomina::dynamic::DynTensorMut<'_>> {
        self.get_mut().try_as_dyn_mut()
    }
    fn set(&mut self, value: DynTensor) -> Result<()> {
        let tensor = self.get_mut();
        *tensor = replaced(tensor, value)?;
        Ok(())
    }
    fn track(&mut self, _: bool) -> Result<()> {
        Ok(())
    }
}

#[diagnostic::do_not_recommend]
impl<D: Dims + Distinct, T: Element> Module for Buffer<D, T> {
    fn each<'a>(&'a self, path: &mut Path, visit: &mut dyn FnMut(&str, &'a dyn Slot)) {
        visit(path.as_str(), self);
    }
    fn each_mut<'a>(&'a mut self, path: &mut Path, visit: &mut dyn FnMut(&str, &'a mut dyn Slot)) {
        visit(path.as_str(), self);
    }
}
