//! Operators that move elements: order, joining, splitting, padding, repeating.

use nomina::{DiagonalOptions, DynTensor};
use nomina_core::Result;

use super::shape::{full, sizes_at};
use crate::call::{Call, broadcast, from_ints, reshape, sizes};
use crate::emit::ops as spell;
use crate::emit::spell::Emit;
use crate::names::flow::Flow::{self, Fresh, Resized, Same};
use crate::table::Row;
use crate::table::Run::{Single, Tensors};

pub const ROWS: &[Row] = &[
    Row::new("Transpose", 1, Flow::Transpose, Single(transpose))
        .emit(Emit::Single(spell::order::transpose)),
    Row::new(
        "Concat",
        4,
        Flow::Concat,
        Single(|c| DynTensor::cat(&c.all()?, c.axis(c.int("axis", 1)?, c.x(0)?.rank())? as i64)),
    )
    .emit(Emit::Single(spell::order::concat)),
    Row::new("Split", 2, Flow::Split, Tensors(split)).emit(Emit::Several(spell::order::split)),
    Row::new("Expand", 8, Flow::Expand, Single(expand)).emit(Emit::Single(spell::order::expand)),
    Row::new("Tile", 6, Resized, Single(tile)).emit(Emit::Single(spell::order::tile)),
    Row::new("Pad", 2, Resized, Single(pad)).emit(Emit::Single(spell::window::pad)),
    Row::new("Slice", 1, Flow::Slice, Single(slice)).emit(Emit::Single(spell::order::slice)),
    Row::new("DepthToSpace", 1, Fresh, Single(depth_to_space)),
    Row::new("SpaceToDepth", 1, Fresh, Single(space_to_depth)),
    Row::new("CenterCropPad", 18, Resized, Single(center_crop_pad)),
    Row::new("Trilu", 14, Same, Single(trilu)),
];

/// Reorders dims.
pub fn permute(x: &DynTensor, dims: &[usize]) -> Result<DynTensor> {
    x.permute(sizes(dims))
}

fn transpose(c: &Call<'_>) -> Result<DynTensor> {
    let x = c.x(0)?;
    match c.ints("perm")? {
        Some(perm) => {
            let dims = perm
                .iter()
                .map(|&p| c.axis(p, x.rank()))
                .collect::<Result<Vec<_>>>()?;
            permute(x, &dims)
        }
        None => permute(x, &(0..x.rank()).rev().collect::<Vec<_>>()),
    }
}

fn split(c: &Call<'_>) -> Result<Vec<DynTensor>> {
    let x = c.x(0)?;
    let axis = c.axis(c.int("axis", 0)?, x.rank())?;
    let size = x.shape()[axis];
    let pieces = match c.ints_from("split", 1)? {
        Some(pieces) => pieces,
        None => {
            let count =
                usize::try_from(c.int("num_outputs", c.node.outputs.len() as i64)?).unwrap_or(0);
            c.require(
                count > 0 && count <= c.node.outputs.len(),
                "the number of outputs is wrong",
            )?;
            let each = size.div_ceil(count);
            (0..count)
                .map(|at| (size.min((at + 1) * each) - size.min(at * each)) as i64)
                .collect()
        }
    };
    c.require(
        pieces.iter().all(|n| (0..=size as i64).contains(n))
            && pieces.iter().sum::<i64>() == size as i64,
        "the pieces do not add up to the dim",
    )?;
    let mut start = 0;
    let mut all = Vec::new();
    for length in pieces {
        all.push(x.narrow(axis as i64, start, length as usize)?);
        start += length;
    }
    Ok(all)
}

fn expand(c: &Call<'_>) -> Result<DynTensor> {
    let x = c.x(0)?;
    expand_to(x, &broadcast(c.op, x.shape(), &sizes_at(c, 1)?)?)
}

/// Broadcasts to a shape.
pub fn expand_to(x: &DynTensor, shape: &[usize]) -> Result<DynTensor> {
    x.expand(&sizes(shape))
}

fn tile(c: &Call<'_>) -> Result<DynTensor> {
    let (x, repeats) = (
        c.x(0)?,
        c.ints_at(1)?
            .ok_or_else(|| c.fail("the repeats are missing"))?,
    );
    c.require(repeats.len() == x.rank(), "there is not one repeat per dim")?;
    c.require(repeats.iter().all(|&n| n >= 0), "a repeat is negative")?;
    x.repeat(&repeats)
}

fn pad(c: &Call<'_>) -> Result<DynTensor> {
    let x = c.x(0)?;
    let pads = match c.ints_at(1)? {
        Some(pads) => pads,
        None => c
            .ints("pads")?
            .or(c.ints("paddings")?)
            .ok_or_else(|| c.fail("the pads are missing"))?,
    };
    let axes = match c.ints_at(3)? {
        Some(axes) => axes
            .iter()
            .map(|&a| c.axis(a, x.rank()))
            .collect::<Result<Vec<_>>>()?,
        None => (0..x.rank()).collect(),
    };
    c.require(
        pads.iter().all(|p| p.unsigned_abs() < 1 << 40),
        "a pad is too large",
    )?;
    c.require(
        pads.len() == 2 * axes.len(),
        "there are not two pads per dim",
    )?;
    let value = match c.maybe(2)? {
        Some(value) if value.numel() == 1 => reshape(value, &[])?.item()?,
        Some(_) => return Err(c.fail("the value is no scalar")),
        None => c.float("value", 0.0)?.into(),
    };
    let mode = c.text("mode", "constant")?;
    let mut y = x.clone();
    for (at, &axis) in axes.iter().enumerate() {
        let pair = (pads[at], pads[at + axes.len()]);
        y = match mode {
            "constant" => pad_constant(&y, axis, pair, value)?,
            _ => pad_from_inside(c, &y, axis, pair, mode)?,
        };
    }
    Ok(y)
}

/// Adds elements before and after a dim, or cuts them off where a count is negative.
pub fn pad_constant(
    x: &DynTensor,
    axis: usize,
    (before, after): (i64, i64),
    value: impl Into<nomina::Scalar>,
) -> Result<DynTensor> {
    let value = value.into();
    let size = x.shape()[axis] as i64;
    let (from, to) = ((-before).clamp(0, size), size - (-after).clamp(0, size));
    let inner = x.narrow(axis as i64, from, (to - from).max(0) as usize)?;
    let block = |n: i64| {
        let mut shape = x.shape().to_vec();
        shape[axis] = n as usize;
        full(&shape, value, x.dtype())
    };
    match (before.max(0), after.max(0)) {
        (0, 0) => Ok(inner),
        (a, 0) => DynTensor::cat(&[&block(a)?, &inner], axis as i64),
        (0, b) => DynTensor::cat(&[&inner, &block(b)?], axis as i64),
        (a, b) => DynTensor::cat(&[&block(a)?, &inner, &block(b)?], axis as i64),
    }
}

fn pad_from_inside(
    c: &Call<'_>,
    x: &DynTensor,
    axis: usize,
    (before, after): (i64, i64),
    mode: &str,
) -> Result<DynTensor> {
    let n = x.shape()[axis] as i64;
    if (before, after) == (0, 0) {
        return Ok(x.clone());
    }
    c.require(n > 0, "an empty dim has no elements to repeat")?;
    c.require(before.max(after) < 1 << 28, "the pads are too large")?;
    let place = |at: i64| match mode {
        "edge" => Ok(at.clamp(0, n - 1)),
        "wrap" => Ok(at.rem_euclid(n)),
        "reflect" if n == 1 => Ok(0),
        "reflect" => {
            let at = at.rem_euclid(2 * (n - 1));
            Ok(at.min(2 * (n - 1) - at))
        }
        other => Err(c.fail(format!("mode `{other}` is unknown"))),
    };
    let index = (-before..n + after)
        .map(place)
        .collect::<Result<Vec<_>>>()?;
    let count = index.len();
    x.index_select(axis as i64, &from_ints(index, &[count])?)
}

fn slice(c: &Call<'_>) -> Result<DynTensor> {
    let x = c.x(0)?;
    let starts = c
        .ints_from("starts", 1)?
        .ok_or_else(|| c.fail("the starts are missing"))?;
    let ends = c
        .ints_from("ends", 2)?
        .ok_or_else(|| c.fail("the ends are missing"))?;
    let axes = match c.ints_from("axes", 3)? {
        Some(axes) => axes,
        None => (0..starts.len() as i64).collect(),
    };
    let steps = c.ints_at(4)?.unwrap_or_else(|| vec![1; starts.len()]);
    c.require(
        [ends.len(), axes.len(), steps.len()]
            .iter()
            .all(|&n| n == starts.len()),
        "starts, ends, axes and steps differ in length",
    )?;
    let mut y = x.clone();
    for at in 0..starts.len() {
        y = slice_dim(c, &y, axes[at], starts[at], ends[at], steps[at])?;
    }
    Ok(y)
}

fn slice_dim(
    c: &Call<'_>,
    x: &DynTensor,
    axis: i64,
    start: i64,
    end: i64,
    step: i64,
) -> Result<DynTensor> {
    let axis = c.axis(axis, x.rank())?;
    let (from, count) = slice_range(x.shape()[axis] as i64, start, end, step)
        .ok_or_else(|| c.fail("a step is 0"))?;
    if step == 1 {
        return x.narrow(axis as i64, from, count);
    }
    let index = (0..count as i64).map(|i| from + i * step).collect();
    x.index_select(axis as i64, &from_ints(index, &[count])?)
}

/// The first index and the count of a slice of `n` elements; `None` for a step of 0.
pub fn slice_range(n: i64, start: i64, end: i64, step: i64) -> Option<(i64, usize)> {
    let wrap = |at: i64| if at < 0 { at.saturating_add(n) } else { at };
    let (start, end) = (wrap(start), wrap(end));
    if step > 0 {
        let (start, end) = (start.clamp(0, n), end.clamp(0, n));
        let count = (end - start).max(0);
        Some((
            start,
            (count / step + i64::from(count % step != 0)) as usize,
        ))
    } else if step < 0 {
        let (start, end) = (start.clamp(-1, n - 1), end.clamp(-1, n - 1));
        let (count, step) = ((start - end).max(0), step.checked_neg().unwrap_or(i64::MAX));
        Some((
            start,
            (count / step + i64::from(count % step != 0)) as usize,
        ))
    } else {
        None
    }
}

fn block(c: &Call<'_>) -> Result<([usize; 4], usize)> {
    let x = c.x(0)?;
    let shape =
        <[usize; 4]>::try_from(x.shape()).map_err(|_| c.fail("the input has not 4 dims"))?;
    let size = usize::try_from(c.int("blocksize", 0)?).unwrap_or(0);
    c.require(size > 0 && size < 1 << 20, "`blocksize` is not positive")?;
    Ok((shape, size))
}

fn depth_to_space(c: &Call<'_>) -> Result<DynTensor> {
    let ([n, ch, h, w], b) = block(c)?;
    c.require(ch % (b * b) == 0, "the channels do not divide")?;
    let d = ch / (b * b);
    let y = match c.text("mode", "DCR")? {
        "DCR" => permute(&reshape(c.x(0)?, &[n, b, b, d, h, w])?, &[0, 3, 4, 1, 5, 2])?,
        "CRD" => permute(&reshape(c.x(0)?, &[n, d, b, b, h, w])?, &[0, 1, 4, 2, 5, 3])?,
        other => return Err(c.fail(format!("mode `{other}` is unknown"))),
    };
    reshape(&y, &[n, d, h * b, w * b])
}

fn space_to_depth(c: &Call<'_>) -> Result<DynTensor> {
    let ([n, ch, h, w], b) = block(c)?;
    c.require(h % b == 0 && w % b == 0, "the sizes do not divide")?;
    let x = reshape(c.x(0)?, &[n, ch, h / b, b, w / b, b])?;
    let y = match c.text("mode", "DCR")? {
        "DCR" => permute(&x, &[0, 3, 5, 1, 2, 4])?,
        "CRD" => permute(&x, &[0, 1, 3, 5, 2, 4])?,
        other => return Err(c.fail(format!("mode `{other}` is unknown"))),
    };
    reshape(&y, &[n, ch * b * b, h / b, w / b])
}

fn center_crop_pad(c: &Call<'_>) -> Result<DynTensor> {
    let (x, wanted) = (c.x(0)?, sizes_at(c, 1)?);
    let axes = match c.ints("axes")? {
        Some(axes) => axes
            .iter()
            .map(|&a| c.axis(a, x.rank()))
            .collect::<Result<Vec<_>>>()?,
        None => (0..x.rank()).collect(),
    };
    c.require(axes.len() == wanted.len(), "there is not one size per axis")?;
    let mut y = x.clone();
    for (&axis, &size) in axes.iter().zip(&wanted) {
        let (size, own) = (size as i64, y.shape()[axis] as i64);
        let extra = size - own;
        let before = if extra >= 0 { extra / 2 } else { -(-extra / 2) };
        y = pad_constant(&y, axis, (before, extra - before), 0.0)?;
    }
    Ok(y)
}

fn trilu(c: &Call<'_>) -> Result<DynTensor> {
    let x = c.x(0)?;
    let offset = match c.maybe(1)? {
        Some(k) => k.item()?.to_i64(),
        None => 0,
    };
    if x.numel() == 0 {
        return Ok(x.clone());
    }
    let options = DiagonalOptions { offset };
    if c.flag("upper", true)? {
        x.triu_with(options)
    } else {
        x.tril_with(options)
    }
}
