//! Gradients: a gradient's placement is the dual of its tensor's.

use nomina::dims::Dims;
use nomina::{Element, Inexact, Result};
use nomina_core::mesh::{Dual, IsLoss, Placement};
use nomina_macros::twin;

use super::Sharded;

impl<D: Dims, P: Placement, T: Inexact> Sharded<D, P, T> {
    /// Turns this tensor into a leaf.
    ///
    /// # Errors
    /// [`ErrorKind::Gradient`](nomina::ErrorKind::Gradient) if it is the result of a recorded operation; if memory is
    /// missing.
    #[twin]
    pub fn try_with_grad(self) -> Result<Self> {
        Ok(Self {
            local: self.local.try_with_grad()?,
            ..self
        })
    }
}

impl<D: Dims, P: Placement, T: Element> Sharded<D, P, T> {
    /// Returns the gradient that `backward` left at a leaf. The gradient of a whole tensor is pending: each rank has a
    /// partial sum.
    #[must_use]
    pub fn grad(&self) -> Option<Sharded<D, Dual<P>, T>> {
        self.gradient(self.local.grad())
    }

    /// Returns the gradient and removes it from the leaf.
    #[must_use]
    pub fn take_grad(&self) -> Option<Sharded<D, Dual<P>, T>> {
        self.gradient(self.local.take_grad())
    }

    fn gradient(&self, local: Option<nomina::Tensor<D, T>>) -> Option<Sharded<D, Dual<P>, T>> {
        Some(Sharded {
            local: local?,
            sizes: self.sizes.clone(),
            origin: self.origin.then("grad"),
            mesh: self.mesh.clone(),
        })
    }
}

impl<P: Placement, T: Inexact> Sharded<(), P, T> {
    /// Accumulates the gradients of all leaves that this scalar depends on. The scalar must be pending or synced over
    /// each axis: of a whole loss, each rank's copy would count. All ranks send the gradients of conversions in the
    /// same order.
    ///
    /// # Errors
    /// [`ErrorKind::Gradient`](nomina::ErrorKind::Gradient) if nothing was recorded; if a rank is gone, or memory is
    /// missing.
    #[twin]
    pub fn try_backward(&self) -> Result<()>
    where
        T: nomina::Float,
        P: IsLoss,
    {
        self.local.try_backward()
    }
}
