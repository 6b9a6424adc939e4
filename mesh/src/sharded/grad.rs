//! Gradients: a gradient's placement is the dual of its tensor's.

use nomina::dims::Dims;
use nomina::{Element, Inexact, Result};
use nomina_core::mesh::{Dual, IsLoss, Placement};
use nomina_macros::twin;

use super::Sharded;

impl<D: Dims, P: Placement, T: Inexact> Sharded<D, P, T> {
    /// This tensor as a leaf.
    ///
    /// # Errors
    /// [`ErrorKind::Gradient`](nomina::ErrorKind::Gradient) for a result of what is recorded; when memory is missing.
    #[twin]
    pub fn try_with_grad(self) -> Result<Self> {
        Ok(Self {
            local: self.local.try_with_grad()?,
            ..self
        })
    }
}

impl<D: Dims, P: Placement, T: Element> Sharded<D, P, T> {
    /// The gradient that `backward` left at a leaf: of a whole tensor it is pending, as each rank has its own part of the sum.
    #[must_use]
    pub fn grad(&self) -> Option<Sharded<D, Dual<P>, T>> {
        self.gradient(self.local.grad())
    }

    /// The gradient, which is then no longer at the leaf.
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
    /// Adds to the gradient of each leaf that this number was computed of. It is pending or synced over each axis: of a whole loss
    /// each rank's copy would count. What conversions send back, all ranks send in the same order.
    ///
    /// # Errors
    /// [`ErrorKind::Gradient`](nomina::ErrorKind::Gradient) when nothing was recorded; when a rank is gone, or memory is missing.
    #[twin]
    pub fn try_backward(&self) -> Result<()>
    where
        T: nomina::Float,
        P: IsLoss,
    {
        self.local.try_backward()
    }
}
