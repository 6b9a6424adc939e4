//! Reductions of parts of a dim in one pass over the elements.

use nomina_core::op::{Op, class};
use nomina_core::{DType, Result};

use super::result;
use crate::call::backend::backend;
use crate::config::default_dtype;
use crate::job::{DimParts, PartsJob};
use crate::memory::NoMemory;
use crate::memory::scratch::room;
use crate::raw::Raw;
use crate::raw::graph::is_wanted;
use crate::shape::{Shape, row_major};

/// Returns the kernel that computes a reduction without NaN, if there is one.
pub(super) fn kernel(op: Op, dtype: DType) -> Option<Op> {
    let skipping = match op {
        Op::Sum => Op::Nansum,
        Op::Mean => Op::Nanmean,
        Op::Var => Op::Nanvar,
        Op::Std => Op::Nanstd,
        _ => return None,
    };
    skipping
        .row()
        .check_dtype(dtype)
        .is_ok()
        .then_some(skipping)
}

/// Returns the positions of the labels, one group after the other, and the end of each group among them.
fn in_groups(labels: &[i64], counts: &[i64]) -> Result<(Vec<usize>, Vec<usize>), NoMemory> {
    let (mut order, mut ends) = (room([labels.len()])?, room([counts.len()])?);
    let mut total = 0;
    for count in counts {
        // Each group first ends where it begins.
        ends.push(total);
        total += *count as usize;
    }
    order.resize(total, 0);
    for (position, label) in labels.iter().enumerate() {
        let end = &mut ends[*label as usize];
        order[*end] = position;
        *end += 1;
    }
    Ok((order, ends))
}

/// Reduces each group along a dim, of all elements or of those that are not NaN, without storing anything between.
/// Returns `None` if there is no kernel, or if a gradient is recorded: that is of composed operators.
///
/// # Errors
/// If memory is missing.
pub(super) fn groups_in_one_pass(
    op: Op,
    skips_nan: bool,
    x: &Raw,
    dim: usize,
    (labels, counts): (&Raw, &Raw),
) -> Result<Option<Raw>> {
    let (Some(labels), Some(counts)) = (labels.as_slice(), counts.as_slice()) else {
        return Ok(None);
    };
    if counts.is_empty() || is_wanted([x]) {
        return Ok(None);
    }
    let (order, ends) = in_groups(labels, counts).map_err(|e| e.in_op(Op::GroupBy.name()))?;
    let parts = DimParts::Groups {
        order: &order,
        ends: &ends,
    };
    in_one_pass((Op::GroupBy, op), skips_nan, x, dim, (parts, ends.len()))
}

/// Like [`groups_in_one_pass`], for the windows around each position.
///
/// # Errors
/// If memory is missing.
pub(super) fn windows_in_one_pass(
    op: Op,
    skips_nan: bool,
    x: &Raw,
    dim: usize,
    [size, left]: [usize; 2],
) -> Result<Option<Raw>> {
    let parts = DimParts::Windows {
        size,
        left,
        whole: !skips_nan,
    };
    let count = x.shape()[dim];
    in_one_pass((Op::Rolling, op), skips_nan, x, dim, (parts, count))
}

/// Reduces each of `count` parts of a dim.
fn in_one_pass(
    (called, op): (Op, Op),
    skips_nan: bool,
    x: &Raw,
    dim: usize,
    (parts, count): (DimParts<'_>, usize),
) -> Result<Option<Raw>> {
    let reduction = match op {
        Op::Amax | Op::Amin => Some(op),
        _ if skips_nan => kernel(op, x.dtype()),
        _ => Some(op),
    };
    let by = reduction.and_then(class::Reduce::from_op);
    let is_host = x.device().is_cpu();
    let (Some(by), true) = (by, is_host && x.numel() > 0 && !is_wanted([x])) else {
        return Ok(None);
    };
    let dtype = result(op, x)?;
    let compute = if op == Op::Mean && x.dtype().is_integral() {
        DType::F64
    } else {
        let row = op.row();
        row.dtype.resolve(x.dtype(), default_dtype()).compute
    };
    let mut shape = Shape::from_slice(x.shape());
    shape[dim] = count;
    let mut out = Raw::empty(called.name(), &shape, dtype, x.device())?;
    let job = PartsJob {
        op: called,
        by,
        skips_nan,
        compute,
        number: 1.0,
        shape: x.shape(),
        strides: x.strides(),
        x: x.as_ptr(),
        dtype: x.dtype(),
        dim,
        parts,
        out: &row_major(&shape),
        values: out.fresh_ptr(),
        values_dtype: dtype,
    };
    // SAFETY: the job describes a whole operand, parts of its dim, and a fresh result with one element for each.
    let done = unsafe { backend(called.name(), x.device())?.reduce_parts(&job)? };
    Ok(done.then_some(out))
}
