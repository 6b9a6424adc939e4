//! Attention.

use nomina_core::op::Op;
use nomina_core::{DType, ErrorKind, Result};

use super::check::{check_same_kind, refuse, unequal_batches, unequal_sizes};
use crate::call::backend::backend;
use crate::cpu;
use crate::job::{AttentionGradientJob, AttentionJob, AttentionPart, Matrix};
use crate::profile::Span;
use crate::raw::Raw;
use crate::shape::{Shape, Strides, broadcast, count};
use crate::tape::record_attention;

/// The options of attention.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Scores {
    /// Whether query `i` sees keys up to `i` only.
    pub causal: bool,
    /// The factor of scores; by default one over the root of the number of features.
    pub scale: Option<f64>,
    /// Whether keys and values may have fewer heads (the third dim from the end), each of which serves several heads of
    /// the queries.
    pub grouped: bool,
}

/// Computes the softmax of scaled products of queries and keys, times the values. Scores are computed and consumed in
/// blocks of rows; they are never all in memory.
///
/// # Errors
/// If an operand has fewer than two dims, sizes or dtypes do not match, or memory is missing.
pub fn attention(
    query: &Raw,
    key: &Raw,
    value: &Raw,
    mask: Option<&Raw>,
    scores: Scores,
) -> Result<Raw> {
    let op = Op::ScaledDotProductAttention;
    if scores.grouped && query.rank() >= 3 && key.rank() >= 3 && value.rank() >= 3 {
        return grouped(query, key, value, mask, scores);
    }
    let operands = [query, key, value];
    let (batch, [length, source, features, width]) = checked(&operands)?;
    let mut shape = batch.clone();
    shape.extend_from_slice(&[length, width]);
    if let Some(mask) = mask {
        check_mask(&operands, mask, &batch, [length, source])?;
        if scores.causal {
            let what = "both a mask and a causal one";
            return Err(refuse(ErrorKind::Argument, op, &operands, what)
                .hint("omit one, or combine both in one mask"));
        }
    }
    if source == 0 || shape.contains(&0) {
        let out = Raw::zeros(op.name(), &shape, query.dtype(), query.device())?;
        return record_attention(out, operands, mask, (scores.causal, scores.scale));
    }
    let mut out = Raw::empty(op.name(), &shape, query.dtype(), query.device())?;
    let to = out.fresh_ptr();
    let sizes = [length, source, features, width];
    let job = describe(operands, mask, scores, (&batch, sizes), (&out, to))?;
    let backend = backend(op.name(), query.device())?;
    // SAFETY: all operands have the sizes of the job; the result is fresh, and nothing else shares it.
    unsafe { backend.attention(&job)? };
    record_attention(out, operands, mask, (scores.causal, scores.scale))
}

/// Describes an operand of `[rows, cols]` at each index of the batch, to which it broadcasts.
fn part(x: &Raw, batch: &Shape, sizes: [usize; 2], ptr: *mut u8) -> Result<AttentionPart> {
    let mut shape = batch.clone();
    shape.extend_from_slice(&sizes);
    let x = x.expand(&shape)?;
    Ok(AttentionPart {
        matrix: Matrix {
            ptr,
            rows: x.strides()[batch.len()],
            cols: x.strides()[batch.len() + 1],
        },
        dtype: x.dtype(),
        batch: Strides::from_slice(&x.strides()[..batch.len()]),
    })
}

/// Describes an attention whose result, or its gradient, is at an address.
fn describe(
    [query, key, value]: [&Raw; 3],
    mask: Option<&Raw>,
    scores: Scores,
    (batch, [length, source, features, width]): (&Shape, [usize; 4]),
    (out, to): (&Raw, *mut u8),
) -> Result<AttentionJob> {
    let read = |x: &Raw, rows, cols| part(x, batch, [rows, cols], x.as_ptr().cast_mut());
    Ok(AttentionJob {
        dtype: query.dtype(),
        length,
        source,
        features,
        width,
        query: read(query, length, features)?,
        key: read(key, source, features)?,
        value: read(value, source, width)?,
        mask: mask.map(|mask| read(mask, length, source)).transpose()?,
        out: part(out, batch, [length, width], to)?,
        batch: batch.clone(),
        scale: scores
            .scale
            .unwrap_or_else(|| 1.0 / (features.max(1) as f64).sqrt()),
        causal: scores.causal,
    })
}

/// The fewest indices of a batch at which each gradient of attention is computed by one thread.
const MANY: usize = 8;

/// Computes the wanted gradients of queries, keys and values along the whole batch. Returns `None` on a device or for a
/// small batch; then operators compute them.
///
/// # Errors
/// If memory is missing.
pub(crate) fn attention_gradients(
    operands: [&Raw; 3],
    mask: Option<&Raw>,
    scores: Scores,
    grad: &Raw,
    wants: [bool; 3],
) -> Result<Option<[Option<Raw>; 3]>> {
    let op = Op::ScaledDotProductAttention;
    let (batch, sizes) = checked(&operands)?;
    if !grad.device().is_cpu() || count(&batch) < MANY || sizes.contains(&0) {
        return Ok(None);
    }
    let from = grad.as_ptr().cast_mut();
    let forward = describe(operands, mask, scores, (&batch, sizes), (grad, from))?;
    let [length, source, features, width] = sizes;
    let (mut found, mut grads) = ([None, None, None], [None, None, None]);
    let results = [(length, features), (source, features), (source, width)];
    for (at, (rows, cols)) in results.into_iter().enumerate() {
        if wants[at] {
            let mut out = like_operand(operands[at], &batch, [rows, cols])?;
            let to = out.fresh_ptr();
            grads[at] = Some(part(&out, &batch, [rows, cols], to)?);
            found[at] = Some(out);
        }
    }
    let job = AttentionGradientJob { forward, grads };
    let _span = Span::new(op.name());
    // SAFETY: the operands were checked to have the sizes of the job; the results are fresh, and nothing else shares them.
    unsafe { cpu::attention_gradients::execute(&job) }.map_err(|error| error.in_op(op.name()))?;
    Ok(Some(found))
}

/// Returns an uninitialised tensor along the whole batch, with dims in the order of the operand's memory.
fn like_operand(x: &Raw, batch: &Shape, sizes: [usize; 2]) -> Result<Raw> {
    let mut shape = batch.clone();
    shape.extend_from_slice(&sizes);
    let whole = x.expand(&shape)?;
    let mut order: Shape = (0..shape.len()).collect();
    order.sort_by_key(|&dim| -whole.strides()[dim]);
    let mut strides = Strides::from_slice(whole.strides());
    let mut step = 1;
    for &dim in order.iter().rev() {
        strides[dim] = step;
        step *= shape[dim].max(1) as isize;
    }
    let op = Op::ScaledDotProductAttention.name();
    Raw::empty_strided(op, &shape, strides, x.dtype(), x.device())
}

/// Returns the batch to which all broadcast, and the sizes: length, source, features, width.
fn checked(operands: &[&Raw; 3]) -> Result<(Shape, [usize; 4])> {
    let op = Op::ScaledDotProductAttention;
    if operands.iter().any(|x| x.rank() < 2) {
        let what = "queries, keys and values need at least 2 dims";
        return Err(refuse(ErrorKind::Rank, op, operands, what)
            .hint("their last dims are length and features"));
    }
    check_same_kind(op, operands)?;
    let end = |x: &Raw, from_end: usize| x.shape()[x.rank() - from_end];
    let [query, key, value] = *operands;
    for (a, b, from_end, hint) in [
        (0, 1, 1, "queries and keys need equal features"),
        (1, 2, 2, "each key needs one value"),
    ] {
        let (x, y) = (operands[a], operands[b]);
        if end(x, from_end) != end(y, from_end) {
            let dims = [(a, x.rank() - from_end), (b, y.rank() - from_end)];
            return Err(unequal_sizes(op, operands, dims).hint(hint));
        }
    }
    let front = |x: &Raw| Shape::from_slice(&x.shape()[..x.rank() - 2]);
    let fronts = [front(query), front(key), front(value)];
    let fronts: crate::SmallVec<[&[usize]; 3]> = fronts.iter().map(|shape| &shape[..]).collect();
    let batch = broadcast(op.name(), &fronts).map_err(|e| unequal_batches(e, operands))?;
    let sizes = [end(query, 2), end(key, 2), end(query, 1), end(value, 1)];
    Ok((batch, sizes))
}

fn check_mask(operands: &[&Raw; 3], mask: &Raw, batch: &[usize], last: [usize; 2]) -> Result<()> {
    let op = Op::ScaledDotProductAttention;
    if mask.dtype() != DType::Bool && mask.dtype() != operands[0].dtype() {
        let what = format!("a mask of {}", mask.dtype());
        return Err(
            refuse(ErrorKind::DType, op, operands, what).hint("use bool or the operands' dtype")
        );
    }
    if mask.device() != operands[0].device() {
        let what = format!("a mask on `{}`", mask.device());
        return Err(refuse(ErrorKind::Device, op, operands, what).hint("move it with `to_device`"));
    }
    let mut shape = Shape::from_slice(batch);
    shape.extend_from_slice(&last);
    if mask.expand(&shape).is_err() {
        let what = format!("a mask of sizes {:?} for scores of {shape:?}", mask.shape());
        return Err(refuse(ErrorKind::Shape, op, operands, what)
            .hint("its sizes are those of the scores, or 1"));
    }
    Ok(())
}

/// Computes attention with fewer heads of keys and values: the queries' head dim is split by theirs.
fn grouped(query: &Raw, key: &Raw, value: &Raw, mask: Option<&Raw>, scores: Scores) -> Result<Raw> {
    let op = Op::ScaledDotProductAttention;
    let heads = |x: &Raw| x.shape()[x.rank() - 3];
    let (all, own) = (heads(query), heads(key));
    if own == 0 || all % own != 0 || heads(value) != own {
        let what = format!(
            "{all} heads of queries for {own} of keys and {} of values",
            heads(value)
        );
        return Err(refuse(ErrorKind::Shape, op, &[query, key, value], what)
            .hint("the queries' heads must be a multiple"));
    }
    let split = |x: &Raw| -> Result<Raw> {
        let mut shape = Shape::from_slice(x.shape());
        let at = x.rank() - 3;
        shape[at] = own;
        shape.insert(at + 1, all / own);
        x.reshape(&shape)
    };
    let spread = |x: &Raw| x.unsqueeze(x.rank() - 2);
    let mask = match mask {
        Some(mask) if mask.rank() >= 3 && heads(mask) == all && all != 1 => Some(split(mask)?),
        Some(mask) if mask.rank() >= 3 => Some(spread(mask)?),
        mask => mask.cloned(),
    };
    let scores = Scores {
        grouped: false,
        ..scores
    };
    let out = attention(
        &split(query)?,
        &spread(key)?,
        &spread(value)?,
        mask.as_ref(),
        scores,
    )?;
    let mut shape = Shape::from_slice(out.shape());
    let at = shape.len() - 4;
    shape.remove(at);
    shape[at] = all;
    out.reshape(&shape)
}

#[cfg(test)]
#[path = "attention_tests.rs"]
mod tests;
