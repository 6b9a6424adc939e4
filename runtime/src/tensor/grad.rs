//! Gradients: leaves, the backward pass, and the gradients that leaves accumulate.

use nomina_core::{Result, Scalar, rule};

use super::{DynTensor, about};
use crate::autograd::{self as grad, BackwardOptions, HookHandle};
use crate::call;
use crate::raw::Raw;

impl DynTensor {
    /// Returns whether results computed from this tensor are recorded.
    #[must_use]
    pub fn requires_grad(&self) -> bool {
        self.raw.requires_grad()
    }

    /// Returns whether no recorded operator computed this tensor; true also for tensors that are not recorded.
    #[must_use]
    pub fn is_leaf(&self) -> bool {
        self.raw.is_leaf()
    }

    /// Makes this tensor a leaf: results computed from it are recorded from now on, and `backward` stores its gradient
    /// here. Clones are the same leaf.
    ///
    /// ```
    /// use nomina_runtime::DynTensor;
    /// let mut w = DynTensor::from_vec(vec![1.0_f32, 2.0], &[2], ["N"])?;
    /// w.requires_grad_()?;
    /// w.mul(&w)?.sum(..)?.backward()?;
    /// assert_eq!(w.grad().unwrap().to_vec::<f32>()?, [2.0, 4.0]);
    /// # Ok::<(), nomina_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Gradient`](nomina_core::ErrorKind::Gradient) for integers and bool, and for the result of a
    /// recorded operator. Also if memory runs out.
    pub fn requires_grad_(&mut self) -> Result<&mut Self> {
        let done = self.raw.requires_grad_();
        done.map_err(|e| about(e, &[self]))?;
        Ok(self)
    }

    /// Returns this tensor as a leaf; see [`requires_grad_`](Self::requires_grad_).
    ///
    /// # Errors
    /// Like [`requires_grad_`](Self::requires_grad_).
    pub fn with_grad(mut self) -> Result<Self> {
        self.requires_grad_()?;
        Ok(self)
    }

    /// Returns the gradient that `backward` stored in a leaf, with this tensor's names; `None` before.
    #[must_use]
    pub fn grad(&self) -> Option<Self> {
        Some(Self::new(self.raw.grad()?, self.names.clone()))
    }

    /// Sets the gradient, replacing any other.
    ///
    /// # Errors
    /// If the tensor is not a leaf, or the gradient has other names, sizes, dtype or device.
    pub fn set_grad(&self, grad: &Self) -> Result<()> {
        let unified = rule::unify("set_grad", &self.names, &grad.names);
        unified.map_err(|error| about(error, &[self, grad]))?;
        let done = self.raw.set_grad(grad.raw.clone());
        done.map_err(|error| about(error, &[self, grad]))
    }

    /// Takes the gradient out of the leaf.
    #[must_use]
    pub fn take_grad(&self) -> Option<Self> {
        Some(Self::new(self.raw.take_grad()?, self.names.clone()))
    }

    /// Removes the gradient.
    pub fn zero_grad(&self) {
        drop(self.take_grad());
    }

    /// Makes `backward` also store a gradient in this tensor, which is not a leaf.
    pub fn retain_grad(&self) {
        self.raw.retain_grad();
    }

    /// Adds the gradients of this number to those of the leaves it was computed from. Consumes the graph.
    ///
    /// # Errors
    /// [`ErrorKind::Gradient`](nomina_core::ErrorKind::Gradient) if this is not one real number, was not recorded, or
    /// was computed by an operator without a derivative. Also if memory runs out. No gradient is changed in that case.
    pub fn backward(&self) -> Result<()> {
        grad::one_number("backward", &self.raw).map_err(|e| about(e, &[self]))?;
        let one = call::full(
            self.shape(),
            Scalar::Float(1.0),
            self.dtype(),
            self.device(),
        )
        .map_err(|e| about(e, &[self]))?;
        self.back(one, BackwardOptions::default())
    }

    /// Like [`backward`](Self::backward), but from any tensor, whose own gradient is `seed`.
    ///
    /// # Errors
    /// Like [`backward`](Self::backward); also if `seed` has other sizes, or names that do not match.
    pub fn backward_with(&self, seed: &Self, options: BackwardOptions) -> Result<()> {
        let fit = |error| about(error, &[self, seed]);
        nomina_core::rule::unify("backward", &self.names, &seed.names).map_err(fit)?;
        let raw = call::to_dtype(&seed.raw, self.dtype()).map_err(fit)?;
        grad::backward(&self.raw, raw, options).map_err(fit)
    }

    /// Calls `hook` with each gradient that reaches this tensor, before it propagates further; the value of the hook
    /// replaces it. If the hook fails, so does `backward`, and no gradient has changed.
    ///
    /// ```
    /// use nomina_runtime::DynTensor;
    /// let x = DynTensor::from_vec(vec![1.0_f32, 2.0], &[2], ["N"])?.with_grad()?;
    /// let y = x.mul(3.0)?;
    /// let hook = y.register_hook(|g| g.mul(10.0).map(Some))?;
    /// y.sum(..)?.backward()?;
    /// assert_eq!(x.grad().unwrap().to_vec::<f32>()?, [30.0, 30.0]);
    /// hook.remove();
    /// # Ok::<(), nomina_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Gradient`](nomina_core::ErrorKind::Gradient) if the tensor is not recorded.
    pub fn register_hook(
        &self,
        hook: impl Fn(&Self) -> Result<Option<Self>> + Send + Sync + 'static,
    ) -> Result<HookHandle> {
        let names = self.names.clone();
        let nameless = move |grad: &Raw| {
            let other = hook(&Self::new(grad.clone(), names.clone()))?;
            if let Some(other) = &other {
                nomina_core::rule::unify("register_hook", &names, &other.names)?;
            }
            Ok(other.map(|other| other.raw))
        };
        let done = self.raw.register_hook(nameless);
        done.map_err(|e| about(e, &[self]))
    }

    /// Calls `hook` with the gradient of this leaf each time after `backward` has written it.
    ///
    /// # Errors
    /// [`ErrorKind::Gradient`](nomina_core::ErrorKind::Gradient) if the tensor is not a leaf.
    pub fn register_post_accumulate_grad_hook(
        &self,
        hook: impl Fn(&Self) -> Result<()> + Send + Sync + 'static,
    ) -> Result<HookHandle> {
        let names = self.names.clone();
        let nameless = move |grad: &Raw| hook(&Self::new(grad.clone(), names.clone()));
        let done = self.raw.register_post_accumulate_grad_hook(nameless);
        done.map_err(|e| about(e, &[self]))
    }

    fn back(&self, seed: Raw, options: BackwardOptions) -> Result<()> {
        grad::backward(&self.raw, seed, options).map_err(|e| about(e, &[self]))
    }
}
