//! Attention.

use nomina_core::Result;

use super::target::GradTarget;
use crate::raw::Raw;
use crate::raw::graph::{is_wanted, record};

/// The saved values of attention.
pub(crate) struct AttentionSaved {
    pub(crate) query: Raw,
    pub(crate) key: Raw,
    pub(crate) value: Raw,
    pub(crate) mask: Option<Raw>,
    /// Whether query `i` sees keys up to `i` only.
    pub(crate) causal: bool,
    /// The factor of scores; the default is one over the root of the number of features.
    pub(crate) scale: Option<f64>,
    /// The targets of the query, key and value.
    pub(crate) targets: [GradTarget; 3],
}

/// Records attention of queries to keys and values.
///
/// # Errors
/// If there is no memory for a node.
pub(crate) fn record_attention(
    out: Raw,
    [query, key, value]: [&Raw; 3],
    mask: Option<&Raw>,
    (causal, scale): (bool, Option<f64>),
) -> Result<Raw> {
    let operands = || [Some(query), Some(key), Some(value), mask];
    if !is_wanted(operands().into_iter().flatten()) {
        return Ok(out);
    }
    let saved = AttentionSaved {
        query: query.clone(),
        key: key.clone(),
        value: value.clone(),
        mask: mask.cloned(),
        causal,
        scale,
        targets: [query, key, value].map(GradTarget::new),
    };
    record(out, operands(), saved)
}
