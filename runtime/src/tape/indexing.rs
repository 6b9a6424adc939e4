//! Gathers and scatters along a dim.

use nomina_core::Result;
use nomina_core::op::Op;

use super::target::{GradTarget, has_gradient};
use crate::job::Update;
use crate::raw::Raw;
use crate::raw::graph::{is_wanted, record};

/// How an index addresses elements along a dim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Addressing {
    /// The index has the tensor's other dims, too: `gather` and `scatter`.
    Elements,
    /// The index addresses whole slices; its dims replace the dim: `index_select`.
    Slices,
}

/// An index along a dim, as an operator uses it.
#[derive(Clone, Debug)]
pub(crate) struct DimIndex {
    pub(crate) op: Op,
    pub(crate) addressing: Addressing,
    pub(crate) dim: usize,
    pub(crate) index: Raw,
}

/// The saved values of a gather.
pub(crate) struct GatherSaved {
    pub(crate) index: DimIndex,
    pub(crate) target: GradTarget,
}

/// Records the elements of `x` that an index along `dim` picked.
///
/// # Errors
/// If there is no memory for a node.
pub(crate) fn record_gather(
    op: Op,
    addressing: Addressing,
    out: Raw,
    x: &Raw,
    dim: usize,
    index: &Raw,
) -> Result<Raw> {
    if !is_wanted([x]) || !has_gradient(out.dtype()) {
        return Ok(out);
    }
    let index = match (addressing, index.rank()) {
        (Addressing::Slices, 0) => index.unsqueeze(0)?,
        _ => index.clone(),
    };
    let index = DimIndex {
        op,
        addressing,
        dim,
        index,
    };
    let target = GradTarget::new(x);
    record(out, [Some(x)], GatherSaved { index, target })
}

/// The saved values of a scatter.
pub(crate) struct ScatterSaved {
    pub(crate) index: DimIndex,
    pub(crate) update: Update,
    /// The tensor before, the source and the result; only if they were multiplied or compared.
    pub(crate) joined: Option<[Raw; 3]>,
    pub(crate) source: GradTarget,
}

/// Records `out`, which is `x` after an update with `src` at an index. The caller checks that it is to be recorded.
///
/// # Errors
/// If there is no memory for a node.
pub(crate) fn record_scatter(
    index: &DimIndex,
    update: Update,
    out: Raw,
    [x, src]: [&Raw; 2],
) -> Result<Raw> {
    let joined = match update {
        Update::Set | Update::Add => None,
        Update::Mul | Update::Max | Update::Min => Some([x.clone(), src.clone(), out.clone()]),
    };
    let saved = ScatterSaved {
        index: index.clone(),
        update,
        joined,
        source: GradTarget::new(src),
    };
    record(out, [Some(x), Some(src)], saved)
}
