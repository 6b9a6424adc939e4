//! Hooks: functions that the backward pass calls with a node's gradient, and gradients that nodes retain.

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, Weak};

use nomina_core::{Error, ErrorKind, Names, Result};

use super::node::lock;
use crate::raw::Raw;

/// What few nodes have.
#[derive(Debug, Default)]
pub(crate) struct Extras {
    /// Of a leaf, and of an inner node whose gradient is kept.
    pub(super) slot: OnceLock<Mutex<Option<Raw>>>,
    /// What is called with the gradient, before it goes on.
    pub(crate) hooks: Hooks,
    /// Of a leaf: what is called once its slot is written.
    pub(crate) after: Hooks,
}

/// Gets a gradient, and may give another one in its place.
pub(crate) type Hook = dyn Fn(&Raw) -> Result<Option<Raw>> + Send + Sync;

/// A hook, until it is removed.
type Place = Mutex<Option<Arc<Hook>>>;

/// The hooks of a node, in the order in which they are called.
#[derive(Default)]
pub(crate) struct Hooks(Mutex<Vec<Arc<Place>>>);

/// A hook that was registered: [`remove`](Self::remove) ends it, dropping the handle does not.
pub struct HookHandle(Weak<Place>);

impl HookHandle {
    /// From now on the hook is not called.
    pub fn remove(self) {
        if let Some(place) = self.0.upgrade() {
            drop(lock(&place).take());
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
        write!(f, "{} hooks", lock(&self.0).len())
    }
}

impl Hooks {
    /// One more, behind the others.
    pub(crate) fn add(&self, hook: Arc<Hook>) -> HookHandle {
        let place = Arc::new(Mutex::new(Some(hook)));
        let handle = HookHandle(Arc::downgrade(&place));
        lock(&self.0).push(place);
        handle
    }

    /// Those that are not removed. No lock is held while one of them runs, so that it may register or remove hooks.
    fn all(&self) -> Vec<Arc<Hook>> {
        let mut all = Vec::new();
        lock(&self.0).retain(|place| {
            let hook = lock(place).clone();
            let stays = hook.is_some();
            all.extend(hook);
            stays
        });
        all
    }

    /// What the hooks make of a gradient.
    ///
    /// # Errors
    /// Those of a hook, and when one gives a gradient of other sizes, another dtype or device.
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
    let what = "a hook gave a gradient of other sizes, or of another dtype or device";
    Err(Error::new(ErrorKind::Shape, "register_hook", what)
        .operand(&Names::default(), grad.shape())
        .operand(&Names::default(), other.shape())
        .hint("give one like that which the hook was called with"))
}
