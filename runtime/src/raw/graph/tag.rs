//! The dtype of a tensor and the node that computed it, in one word; in debug builds also the call that created it.

use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::ptr::{NonNull, without_provenance_mut};

use nomina_core::DType;

use super::node::{Node, NodeRef};

/// The dtype of a tensor and its origin.
#[derive(Debug)]
pub(crate) struct Tag {
    /// A dtype in the low four bits; above it the address of a node, which is a multiple of 64, or zeros.
    word: *mut Node,
    #[cfg(debug_assertions)]
    made: Option<&'static Location<'static>>,
}

// SAFETY: a dtype and a `NodeRef`, which may be sent and shared.
unsafe impl Send for Tag {}
// SAFETY: as above.
unsafe impl Sync for Tag {}

const BITS: usize = 15;

/// The dtypes by their bits; unused entries are never looked up.
const DTYPES: [DType; BITS + 1] = {
    let mut all = [DType::Bool; BITS + 1];
    let mut at = 0;
    while at < DType::ALL.len() {
        all[DType::ALL[at] as usize] = DType::ALL[at];
        at += 1;
    }
    all
};

impl Tag {
    /// Creates the tag of a tensor without a node.
    #[inline(always)]
    pub(crate) const fn for_dtype(dtype: DType) -> Self {
        Self::new(without_provenance_mut(dtype as usize))
    }

    #[inline(always)]
    const fn new(word: *mut Node) -> Self {
        Self {
            word,
            #[cfg(debug_assertions)]
            made: None,
        }
    }

    /// Returns the call that created the tensor, if known.
    #[inline(always)]
    #[allow(clippy::unused_self, reason = "only debug builds know")]
    pub(crate) fn created_at(&self) -> Option<&'static Location<'static>> {
        #[cfg(debug_assertions)]
        return self.made;
        #[cfg(not(debug_assertions))]
        None
    }

    /// Sets the call that created the tensor to `_at`; release builds do not keep it.
    #[inline(always)]
    #[allow(unused_mut, reason = "only debug builds keep it")]
    pub(crate) fn made_at(mut self, _at: Option<&'static Location<'static>>) -> Self {
        #[cfg(debug_assertions)]
        {
            self.made = _at;
        }
        self
    }

    /// Creates the tag of a tensor that a node computed.
    pub(crate) fn computed(dtype: DType, node: NodeRef) -> Self {
        let node = node.into_ptr().as_ptr();
        Self::new(node.map_addr(|address| address | dtype as usize))
    }

    #[inline(always)]
    pub(crate) fn dtype(&self) -> DType {
        DTYPES[self.word.addr() & BITS]
    }

    /// Returns whether there is a node.
    #[inline(always)]
    pub(crate) fn has_node(&self) -> bool {
        self.word.addr() > BITS
    }

    /// Returns whether both have the same dtype and no node.
    #[inline(always)]
    pub(crate) fn is_plain_as(&self, other: &Self) -> bool {
        self.word.addr() == other.word.addr() && !self.has_node()
    }

    fn ptr(&self) -> Option<NonNull<Node>> {
        NonNull::new(self.word.map_addr(|address| address & !BITS))
    }

    /// Returns the node.
    pub(crate) fn node(&self) -> Option<&Node> {
        // SAFETY: this tag counts as a reference to it.
        self.ptr().map(|node| unsafe { node.as_ref() })
    }

    /// Returns a reference to the node.
    pub(crate) fn node_ref(&self) -> Option<NodeRef> {
        self.node().map(NodeRef::from_node)
    }
}

impl Clone for Tag {
    #[inline(always)]
    fn clone(&self) -> Self {
        if self.has_node() {
            return self.clone_node();
        }
        Self::new(self.word).made_at(self.created_at())
    }
}

impl Tag {
    #[cold]
    fn clone_node(&self) -> Self {
        match self.node_ref() {
            Some(node) => Self::computed(self.dtype(), node).made_at(self.created_at()),
            None => Self::new(self.word).made_at(self.created_at()),
        }
    }

    #[cold]
    fn drop_node(&mut self) {
        if let Some(node) = self.ptr() {
            // SAFETY: the reference of this tag, which ends here.
            drop(unsafe { NodeRef::from_ptr(node) });
        }
    }
}

impl Drop for Tag {
    #[inline(always)]
    fn drop(&mut self) {
        if self.has_node() {
            self.drop_node();
        }
    }
}

// A panic leaves a node consistent: its mutable parts are behind locks.
impl UnwindSafe for Tag {}
impl RefUnwindSafe for Tag {}
