//! The identity of a parameter, by which optimizers keep their state.

use std::sync::{Arc, Weak};

/// The identity of a [`Param`](crate::Param), shared by its clones and by no other parameter.
///
/// ```
/// use nomina::prelude::*;
/// use nomina_nn::Slot;
/// use nomina_nn::prelude::*;
/// dims! { In, Out }
/// let mut model = Linear::without_bias(In.of(2), Out.of(3));
/// let before = model.weight.identity().cloned();
/// let state = model.state();
/// model.load(state);
/// assert_eq!(model.weight.identity().cloned(), before);
/// assert_ne!(model.fork().weight.identity().cloned(), before);
/// ```
#[derive(Clone, Debug)]
pub struct Identity(Arc<Token>);

/// A byte, so that each identity has a unique address.
#[derive(Debug)]
struct Token(#[allow(dead_code, reason = "its address counts")] u8);

impl Identity {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Token(0)))
    }

    pub(crate) fn downgrade(&self) -> WeakIdentity {
        WeakIdentity(Arc::downgrade(&self.0))
    }
}

impl PartialEq for Identity {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Identity {}

/// A weak reference to an identity. While it exists, no other identity gets its address.
#[derive(Clone, Debug)]
pub(crate) struct WeakIdentity(Weak<Token>);

impl WeakIdentity {
    /// Returns the address of the identity, the key in maps.
    pub(crate) fn address(&self) -> usize {
        self.0.as_ptr().addr()
    }

    /// Returns whether a parameter has this identity.
    pub(crate) fn is_alive(&self) -> bool {
        self.0.strong_count() > 0
    }
}
