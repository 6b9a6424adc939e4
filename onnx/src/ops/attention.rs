//! Attention and rotary embeddings.

use nomina::{DType, DynTensor};
use nomina_core::Result;

use super::index::zeros;
use super::move_elements::{pad_constant, permute};
use super::shape::full;
use crate::call::{Call, from_ints, ints, reshape};
use crate::names::flow::Flow::{Fresh, Same};
use crate::proto::tensor;
use crate::table::Row;
use crate::table::Run::{Single, Tensors};

pub const ROWS: &[Row] = &[
    Row::new("Attention", 23, Fresh, Tensors(attention)),
    Row::new("RotaryEmbedding", 23, Same, Single(rotary)),
    Row::new("LinearAttention", 26, Fresh, Tensors(linear)),
    Row::new("LinearAttention", 1, Fresh, Tensors(linear)).domain("ai.onnx.preview"),
    Row::new("SwiGLU", 26, Same, Single(swiglu)),
    Row::new("SwiGLU", 1, Same, Single(swiglu)).domain("ai.onnx.preview"),
];

/// Splits the last dim into heads and moves them before the positions.
fn heads(c: &Call<'_>, x: &DynTensor, count: i64) -> Result<DynTensor> {
    let &[batch, length, hidden] = x.shape() else {
        return Err(c.fail("an operand has not 3 dims"));
    };
    let count = usize::try_from(count)
        .ok()
        .filter(|&n| n > 0 && hidden % n == 0);
    let count = count.ok_or_else(|| c.fail("the heads do not divide the last dim"))?;
    permute(
        &reshape(x, &[batch, length, count, hidden / count])?,
        &[0, 2, 1, 3],
    )
}

fn merged(x: &DynTensor) -> Result<DynTensor> {
    let &[batch, count, length, size] = x.shape() else {
        return Ok(x.clone());
    };
    reshape(&permute(x, &[0, 2, 1, 3])?, &[batch, length, count * size])
}

/// Numbers `0..count` along a dim of `shape`.
fn places(count: usize, shape: &[usize]) -> Result<DynTensor> {
    from_ints((0..count as i64).collect(), shape)
}

/// 0 where a key may be attended to, minus infinity elsewhere.
fn bias_where(allowed: &DynTensor, dtype: DType) -> Result<DynTensor> {
    allowed.where_cond(
        &full(&[], 0.0, dtype)?,
        &full(&[], f64::NEG_INFINITY, dtype)?,
    )
}

/// The sum of the masks, or `None` if every key may be attended to.
fn bias(
    c: &Call<'_>,
    dtype: DType,
    (q, kv): (usize, usize),
    past: usize,
) -> Result<Option<DynTensor>> {
    let lengths = c.maybe(6)?;
    let mut sum: Option<DynTensor> = None;
    let mut add = |term: DynTensor| {
        sum = Some(match sum.take() {
            Some(sum) => sum.add(&term)?,
            None => term,
        });
        Ok::<(), nomina_core::Error>(())
    };
    if let Some(mask) = c.maybe(3)? {
        let last = mask
            .shape()
            .last()
            .copied()
            .ok_or_else(|| c.fail("the mask has no dims"))?;
        let missing = kv as i64 - last as i64;
        c.require(missing >= 0, "the mask is longer than the keys")?;
        let axis = mask.rank() - 1;
        add(if mask.dtype() == DType::Bool {
            bias_where(&pad_constant(mask, axis, (0, missing), false)?, dtype)?
        } else {
            pad_constant(mask, axis, (0, missing), f64::NEG_INFINITY)?
        })?;
    }
    // A query at position `i` is at `i + offset` among the keys.
    let offset = match lengths {
        Some(lengths) => {
            let all = ints(lengths)?;
            let n = all.len();
            from_ints(
                all.into_iter()
                    .map(|n| n.saturating_sub(q as i64))
                    .collect(),
                &[n, 1, 1, 1],
            )?
        }
        None => from_ints(vec![past as i64], &[])?,
    };
    let distance = places(q, &[q, 1])?
        .add(&offset)?
        .sub(&places(kv, &[1, kv])?)?;
    let (left, right) = (
        c.int("left_window_size", -1)?,
        c.int("right_window_size", -1)?,
    );
    if c.flag("is_causal", false)? {
        add(bias_where(&distance.ge(0)?, dtype)?)?;
    }
    if left >= 0 {
        add(bias_where(&distance.le(left)?, dtype)?)?;
    }
    if right >= 0 {
        add(bias_where(&distance.ge(-right)?, dtype)?)?;
    }
    if let Some(lengths) = lengths {
        let n = lengths.numel();
        add(bias_where(
            &places(kv, &[1, 1, 1, kv])?.lt(&reshape(lengths, &[n, 1, 1, 1])?)?,
            dtype,
        )?)?;
    }
    Ok(sum)
}

fn attention(c: &Call<'_>) -> Result<Vec<DynTensor>> {
    let flat = c.x(0)?.rank() == 3;
    let operand = |at: usize, name: &str| {
        if flat {
            heads(c, c.x(at)?, c.int(name, 0)?)
        } else {
            Ok(c.x(at)?.clone())
        }
    };
    let q = operand(0, "q_num_heads")?;
    let (mut k, mut v) = (operand(1, "kv_num_heads")?, operand(2, "kv_num_heads")?);
    c.require(
        [&q, &k, &v].iter().all(|x| x.rank() == 4),
        "the operands have neither 3 nor 4 dims",
    )?;
    let past = c
        .maybe(4)?
        .map_or(0, |past| past.shape().get(2).copied().unwrap_or(0));
    if let (Some(past_k), Some(past_v)) = (c.maybe(4)?, c.maybe(5)?) {
        k = DynTensor::cat(&[past_k, &k], 2)?;
        v = DynTensor::cat(&[past_v, &v], 2)?;
    }
    let (present_k, present_v) = (k.clone(), v.clone());
    let (lengths, dtype) = ((q.shape()[2], k.shape()[2]), q.dtype());
    let groups = q.shape()[1] / k.shape()[1].max(1);
    c.require(
        groups * k.shape()[1] == q.shape()[1],
        "the heads do not divide into groups",
    )?;
    if groups > 1 {
        k = k.repeat_interleave(groups as i64, 1)?;
        v = v.repeat_interleave(groups as i64, 1)?;
    }
    let scale = c.float("scale", 1.0 / (q.shape()[3] as f64).sqrt())?;
    let (q, k) = (q.mul(scale.sqrt())?, k.mul(scale.sqrt())?);
    let mode = c.int("qk_matmul_output_mode", 0)?;
    let mut scores = q.matmul(&k.transpose(-1, -2)?)?;
    let mut shown = scores.clone();
    let softcap = c.float("softcap", 0.0)?;
    let bias = bias(c, dtype, lengths, past)?;
    if softcap > 0.0 {
        scores = scores.div(softcap)?.tanh()?.mul(softcap)?;
    }
    if mode == 1 {
        shown = scores.clone();
    }
    if let Some(bias) = &bias {
        scores = scores.add(bias)?;
    }
    if mode == 2 {
        shown = scores.clone();
    }
    let wide = match c.int("softmax_precision", 0)? {
        0 => scores,
        number => scores.to_dtype(tensor::dtype(number)?)?,
    };
    let mut weights = wide.softmax(-1)?;
    if let Some(bias) = &bias {
        // Rows without any key are zero.
        let mut shape = bias.shape().to_vec();
        shape[bias.rank() - 1] = 1;
        let none = reshape(&bias.amax(-1)?, &shape)?.isneginf()?;
        weights = none.where_cond(&full(&[], 0.0, weights.dtype())?, &weights)?;
    }
    let weights = weights.to_dtype(dtype)?;
    if mode == 3 {
        shown = weights.clone();
    }
    let y = weights.matmul(&v)?;
    Ok(vec![
        if flat { merged(&y)? } else { y },
        present_k,
        present_v,
        shown,
    ])
}

fn rotary(c: &Call<'_>) -> Result<DynTensor> {
    let x = c.x(0)?;
    let flat = x.rank() == 3;
    let y = if flat {
        heads(c, x, c.int("num_heads", 0)?)?
    } else {
        x.clone()
    };
    let &[_, _, length, size] = y.shape() else {
        return Err(c.fail("the input has neither 3 nor 4 dims"));
    };
    let turned = match usize::try_from(c.int("rotary_embedding_dim", 0)?).unwrap_or(0) {
        0 => size,
        n => n,
    };
    c.require(
        turned <= size && turned % 2 == 0,
        "`rotary_embedding_dim` is not an even part of the heads",
    )?;
    let cache = |at: usize| {
        let cache = c.x(at)?;
        let cache = match c.maybe(3)? {
            Some(ids) => {
                let n = cache.shape().last().copied().unwrap_or(0);
                let mut shape = ids.shape().to_vec();
                shape.push(n);
                reshape(
                    &cache.index_select(0, &reshape(ids, &[ids.numel()])?)?,
                    &shape,
                )?
            }
            None => cache.clone(),
        };
        c.require(
            cache.rank() == 3 && cache.shape()[1..] == [length, turned / 2],
            "a cache has the wrong shape",
        )?;
        cache.unsqueeze(1, None)
    };
    let (cos, sin) = (cache(1)?, cache(2)?);
    let head = y.narrow(-1, 0, turned)?;
    let paired = c.flag("interleaved", false)?;
    let (a, b) = if paired {
        let mut shape = head.shape().to_vec();
        shape.splice(3..4, [turned / 2, 2]);
        let pairs = reshape(&head, &shape)?;
        (pairs.select(-1, 0)?, pairs.select(-1, 1)?)
    } else {
        (
            head.narrow(-1, 0, turned / 2)?,
            head.narrow(-1, (turned / 2) as i64, turned / 2)?,
        )
    };
    let real = cos.mul(&a)?.sub(&sin.mul(&b)?)?;
    let imaginary = sin.mul(&a)?.add(&cos.mul(&b)?)?;
    let head = if paired {
        reshape(
            &DynTensor::stack(&[&real, &imaginary], 4, None)?,
            head.shape(),
        )?
    } else {
        DynTensor::cat(&[&real, &imaginary], -1)?
    };
    let y = if turned == size {
        head
    } else {
        DynTensor::cat(&[&head, &y.narrow(-1, turned as i64, size - turned)?], -1)?
    };
    if flat { merged(&y) } else { Ok(y) }
}

fn linear(c: &Call<'_>) -> Result<Vec<DynTensor>> {
    let rule = c.text("update_rule", "gated_delta")?;
    let (gated, delta) = match rule {
        "linear" => (false, false),
        "gated" => (true, false),
        "delta" => (false, true),
        "gated_delta" => (true, true),
        other => return Err(c.fail(format!("`update_rule` {other} is unknown"))),
    };
    let (q_heads, kv_heads) = (c.int("q_num_heads", 0)?, c.int("kv_num_heads", 0)?);
    let wide = |x: DynTensor| x.to_dtype(DType::F32);
    let q = wide(heads(c, c.x(0)?, q_heads)?)?;
    let (k, v) = (
        wide(heads(c, c.x(1)?, kv_heads)?)?,
        wide(heads(c, c.x(2)?, kv_heads)?)?,
    );
    let (&[batch, _, length, dk], dv) = (q.shape(), v.shape()[3]) else {
        return Err(c.fail("the queries have not 3 dims"));
    };
    c.require(
        q_heads % kv_heads == 0,
        "the heads do not divide into groups",
    )?;
    let decay = if gated {
        let decay = c.x(4)?;
        c.require(decay.rank() == 3, "the decay has not 3 dims")?;
        Some(wide(heads(c, decay, kv_heads)?)?.exp()?)
    } else {
        None
    };
    let beta = if delta {
        let beta = c.x(5)?;
        c.require(beta.rank() == 3, "beta has not 3 dims")?;
        Some(wide(heads(c, beta, beta.shape()[2] as i64)?)?)
    } else {
        None
    };
    let scale = match c.float("scale", 0.0)? {
        0.0 => 1.0 / (dk as f64).sqrt(),
        scale => scale,
    };
    let (mut state, state_dtype) = match c.maybe(3)? {
        Some(past) => (past.to_dtype(DType::F32)?, past.dtype()),
        None => (
            zeros(&[batch, kv_heads as usize, dk, dv], DType::F32)?,
            c.x(0)?.dtype(),
        ),
    };
    let mut steps = Vec::with_capacity(length);
    for t in 0..length as i64 {
        let at = |x: &DynTensor| x.select(2, t);
        let k_t = at(&k)?.unsqueeze(3, None)?;
        let mut v_t = at(&v)?;
        if let Some(decay) = &decay {
            state = state.mul(&at(decay)?.unsqueeze(3, None)?)?;
        }
        if let Some(beta) = &beta {
            let known = state.mul(&k_t)?.sum(2)?;
            v_t = at(beta)?.mul(&v_t.sub(&known)?)?;
        }
        state = state.add(&k_t.mul(&v_t.unsqueeze(2, None)?)?)?;
        let read = if q_heads == kv_heads {
            state.clone()
        } else {
            state.repeat_interleave(q_heads / kv_heads, 1)?
        };
        steps.push(
            at(&q)?
                .unsqueeze(2, None)?
                .matmul(&read)?
                .squeeze(2)?
                .mul(scale)?,
        );
    }
    c.require(!steps.is_empty(), "the sequence is empty")?;
    let y = DynTensor::stack(&steps.iter().collect::<Vec<_>>(), 2, None)?;
    Ok(vec![
        merged(&y)?.to_dtype(c.x(0)?.dtype())?,
        state.to_dtype(state_dtype)?,
    ])
}

fn swiglu(c: &Call<'_>) -> Result<DynTensor> {
    let (a, b) = (c.x(0)?, c.x(1)?);
    c.require(a.shape() == b.shape(), "the operands differ in shape")?;
    a.mul(&a.mul(c.float("alpha", 1.0)?)?.sigmoid()?)?.mul(b)
}
