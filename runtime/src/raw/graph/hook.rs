//! Hooks: functions that the backward pass calls with a node's gradient; and the gradients that nodes retain.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, Weak};

use nomina_core::{Error, ErrorKind, Names, Result};

use super::node::lock;
use crate::raw::Raw;

/// Fields that few nodes have.
#[derive(Debug, Default)]
pub(crate) struct Extras {
    /// The gradient of a leaf, or of an inner node that retains it.
    pub(super) slot: OnceLock<Mutex<Option<Raw>>>,
    /// Hooks called with the gradient, before it is passed on.
    pub(crate) hooks: Hooks,
    /// Hooks called once a leaf's slot is written.
    pub(crate) after: Hooks,
}

/// Receives a gradient, and may replace it.
pub(crate) type Hook = dyn Fn(&Raw) -> Result<Option<Raw>> + Send + Sync;

/// The registered hooks, by number; numbers increase.
#[derive(Default)]
struct Registered {
    hooks: BTreeMap<u64, Arc<Hook>>,
    next: u64,
}

/// The hooks of a node, in the order in which they are called. Most nodes never have one.
#[derive(Default)]
pub(crate) struct Hooks(OnceLock<Arc<Mutex<Registered>>>);

/// The handle of a registered hook: [`remove`](Self::remove) ends it; dropping the handle does not.
pub struct HookHandle {
    hooks: Weak<Mutex<Registered>>,
    number: u64,
}

impl HookHandle {
    /// Removes the hook: it is not called from now on, and its closure is dropped.
    pub fn remove(self) {
        if let Some(hooks) = self.hooks.upgrade() {
            // Dropped outside of the lock: a hook may hold the last reference to anything.
            let hook = lock(&hooks).hooks.remove(&self.number);
            drop(hook);
        }
    }
}

impl fmt::Debug for HookHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HookHandle")
    }
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} hooks", self.all().len())
    }
}

impl Hooks {
    /// Adds a hook after the others.
    pub(crate) fn add(&self, hook: Arc<Hook>) -> HookHandle {
        let all = self.0.get_or_init(Arc::default);
        let mut registered = lock(all);
        let number = registered.next;
        registered.next += 1;
        registered.hooks.insert(number, hook);
        HookHandle {
            hooks: Arc::downgrade(all),
            number,
        }
    }

    /// Returns the hooks. No lock is held while one of them runs, so that it may register or remove hooks.
    fn all(&self) -> Vec<Arc<Hook>> {
        let all = self.0.get();
        all.map_or_else(Vec::new, |all| lock(all).hooks.values().cloned().collect())
    }

    /// Passes a gradient through the hooks.
    ///
    /// # Errors
    /// The error of a hook, or if one returns a gradient of another size, dtype or device.
    pub(crate) fn run(&self, mut grad: Raw) -> Result<Raw> {
        for hook in self.all() {
            if let Some(other) = hook(&grad)? {
                grad = like(&grad, other)?;
            }
        }
        Ok(grad)
    }
}

fn like(grad: &Raw, other: Raw) -> Result<Raw> {
    if other.shape() == grad.shape()
        && other.dtype() == grad.dtype()
        && other.device() == grad.device()
    {
        return Ok(other);
    }
    let what = "a hook changed the sizes, dtype or device of a gradient";
    Err(Error::new(ErrorKind::Shape, "register_hook", what)
        .operand(&Names::default(), grad.shape())
        .operand(&Names::default(), other.shape())
        .hint("they must stay those of its argument"))
}
