//! The autograd graph: each recorded result points to its node, and a node to those of its operands.
//!
//! Only the tensors computed with a graph keep it alive. Without recording, nothing but tags ([`Tag`]) is inspected.

mod hook;
mod node;
mod switch;
mod tag;
#[cfg(test)]
mod tests;
pub(crate) mod trace;
mod view;

pub use hook::HookHandle;
pub(crate) use node::{
    Chain, Chains, Extended, Incoming, Node, NodeRef, OperandGrads, ResultGrads, Results, Rule,
    Run, is_wanted, lock, record, record_all,
};
pub(crate) use switch::switched;
pub use switch::{enable_grad, is_grad_enabled, no_grad};
pub(crate) use tag::Tag;
pub(crate) use view::{Overwritten, View};
