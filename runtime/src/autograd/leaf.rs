//! Leaves, and the gradients that tensors store.

use std::sync::Arc;

use nomina_core::{Error, ErrorKind, Names, Result};

use crate::raw::Raw;
use crate::raw::graph::{HookHandle, NodeRef, lock};
use crate::tape::has_gradient;

impl Raw {
    /// Whether no recorded operator computed this tensor. Also true if it is not recorded.
    #[must_use]
    pub fn is_leaf(&self) -> bool {
        self.node().is_none_or(|node| node.is_leaf())
    }

    /// Makes this tensor a leaf, unless it is one.
    ///
    /// # Errors
    /// [`ErrorKind::Gradient`] for integers and bool, and for a tensor that was computed from a leaf; also if memory is missing.
    pub fn requires_grad_(&mut self) -> Result<()> {
        let refuse = |what: String| {
            Error::new(ErrorKind::Gradient, "requires_grad_", what)
                .operand(&Names::default(), self.shape())
        };
        if !has_gradient(self.dtype()) {
            return Err(refuse(format!("{} has no gradient", self.dtype()))
                .hint("only floats and complex have gradients"));
        }
        if !self.is_leaf() {
            return Err(refuse("the tensor is not a leaf".to_owned())
                .hint("call `retain_grad` to keep its gradient, or `detach` to cut it off"));
        }
        if !self.requires_grad() {
            let node = NodeRef::leaf("requires_grad_")?;
            *self = self.clone().computed_by(node);
        }
        Ok(())
    }

    /// Returns the stored gradient.
    #[must_use]
    pub fn grad(&self) -> Option<Self> {
        lock(self.node()?.slot()?).clone()
    }

    /// Takes the stored gradient.
    #[must_use]
    pub fn take_grad(&self) -> Option<Self> {
        lock(self.node()?.slot()?).take()
    }

    /// Replaces the stored gradient, for example by one that was averaged over machines or clipped.
    ///
    /// # Errors
    /// [`ErrorKind::Gradient`] if this tensor stores no gradient; also if the gradient's sizes, dtype or device differ.
    pub fn set_grad(&self, grad: Self) -> Result<()> {
        const OP: &str = "set_grad";
        let refuse = |kind, what: String| {
            let error = Error::new(kind, OP, what).operand(&Names::default(), self.shape());
            error.operand(&Names::default(), grad.shape())
        };
        let slot = self.node().and_then(|node| node.slot());
        let slot = slot.ok_or_else(|| self.unrecorded(OP))?;
        if grad.shape() != self.shape() {
            let what = "the gradient's sizes differ from its tensor's".to_owned();
            return Err(refuse(ErrorKind::Shape, what).hint("use the tensor's"));
        }
        if grad.dtype() != self.dtype() || grad.device() != self.device() {
            let [own, its] = [self, &grad].map(|x| format!("{} on `{}`", x.dtype(), x.device()));
            let what = format!("the gradient is {its}, its tensor {own}");
            return Err(refuse(ErrorKind::DType, what).hint("convert it, or move it"));
        }
        *lock(slot) = Some(grad.detach());
        Ok(())
    }

    /// Makes backward passes store the gradient of this tensor, also if it is not a leaf.
    pub fn retain_grad(&self) {
        if let Some(node) = self.node() {
            node.keep_grad();
        }
    }
}

/// The identity of a leaf. Clones of a leaf have the same identity, even if their elements differ. It holds no elements.
///
/// ```
/// use nomina_runtime::DynTensor;
/// let x = DynTensor::zeros(&[2], ["N"])?.with_grad()?;
/// let id = x.raw().leaf_id().expect("a leaf");
/// assert_eq!(x.clone().raw().leaf_id().as_ref(), Some(&id));
/// assert_ne!(x.detach().with_grad()?.raw().leaf_id().as_ref(), Some(&id));
/// assert!(id.is_used());
/// drop(x);
/// assert!(!id.is_used());
/// # Ok::<(), nomina_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct LeafId(Arc<NodeRef>);

impl LeafId {
    /// Returns the address, which no other leaf has while this exists.
    #[must_use]
    pub fn address(&self) -> usize {
        self.0.address()
    }

    /// Whether a tensor is this leaf, or has a graph that reaches it.
    #[must_use]
    pub fn is_used(&self) -> bool {
        self.0.references() > 1
    }
}

impl PartialEq for LeafId {
    fn eq(&self, other: &Self) -> bool {
        self.address() == other.address()
    }
}

impl Eq for LeafId {}

impl Raw {
    /// Returns the identity of this leaf; `None` if the tensor was computed or is not recorded.
    #[must_use]
    pub fn leaf_id(&self) -> Option<LeafId> {
        let node = self.node().filter(|node| node.is_leaf())?;
        Some(LeafId(Arc::new(NodeRef::from_node(node))))
    }
}

/// Hooks.
impl Raw {
    /// Calls `hook` with each gradient that arrives at this tensor; a gradient that the hook returns replaces it.
    ///
    /// # Errors
    /// [`ErrorKind::Gradient`] if the tensor is not recorded.
    pub fn register_hook(
        &self,
        hook: impl Fn(&Self) -> Result<Option<Self>> + Send + Sync + 'static,
    ) -> Result<HookHandle> {
        let node = self
            .node()
            .ok_or_else(|| self.unrecorded("register_hook"))?;
        Ok(node.extras_mut().hooks.add(Arc::new(hook)))
    }

    /// Calls `hook` with the gradient of this leaf each time `backward` has stored it.
    ///
    /// # Errors
    /// [`ErrorKind::Gradient`] if the tensor is not a leaf.
    pub fn register_post_accumulate_grad_hook(
        &self,
        hook: impl Fn(&Self) -> Result<()> + Send + Sync + 'static,
    ) -> Result<HookHandle> {
        const OP: &str = "register_post_accumulate_grad_hook";
        let node = self.node().ok_or_else(|| self.unrecorded(OP))?;
        if !node.is_leaf() {
            let what = "not a leaf: no gradient is accumulated here";
            return Err(Error::new(ErrorKind::Gradient, OP, what)
                .operand(&Names::default(), self.shape())
                .hint("call `register_hook`"));
        }
        let hook = move |grad: &Self| hook(grad).map(|()| None);
        Ok(node.extras_mut().after.add(Arc::new(hook)))
    }

    #[cold]
    fn unrecorded(&self, op: &'static str) -> Error {
        Error::new(ErrorKind::Gradient, op, "the tensor receives no gradient")
            .operand(&Names::default(), self.shape())
            .hint("call `requires_grad_` on a leaf, outside of `no_grad`")
    }
}
