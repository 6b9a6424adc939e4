//! Reductions, sums along a dim and softmax.

use nomina::dynamic::ReduceOptions;
use nomina::{DType, DynTensor};
use nomina_core::Result;

use super::shape::full;
use crate::call::{Call, from_floats, reshape, sizes};
use crate::emit::ops as spell;
use crate::emit::spell::Emit;
use crate::names::flow::Flow::{self, Same};
use crate::table::Row;
use crate::table::Run::Single;

pub const ROWS: &[Row] = &[
    Row::new("ReduceSum", 1, Flow::Reduce, Single(|c| reduce(c, 13, sum)))
        .emit(Emit::Single(spell::reduce::sum)),
    Row::new(
        "ReduceMean",
        1,
        Flow::Reduce,
        Single(|c| reduce(c, 18, mean)),
    )
    .emit(Emit::Single(spell::reduce::mean)),
    Row::new("ReduceMax", 1, Flow::Reduce, Single(|c| reduce(c, 18, max)))
        .emit(Emit::Single(spell::reduce::max)),
    Row::new("ReduceMin", 1, Flow::Reduce, Single(|c| reduce(c, 18, min)))
        .emit(Emit::Single(spell::reduce::min)),
    Row::new(
        "ReduceProd",
        1,
        Flow::Reduce,
        Single(|c| reduce(c, 18, prod)),
    )
    .emit(Emit::Single(spell::reduce::prod)),
    Row::new(
        "ReduceL1",
        1,
        Flow::Reduce,
        Single(|c| reduce(c, 18, |x, d| sum(&x.abs()?, d))),
    )
    .emit(Emit::Single(spell::reduce::l1)),
    Row::new("ReduceL2", 1, Flow::Reduce, Single(|c| reduce(c, 18, l2)))
        .emit(Emit::Single(spell::reduce::l2)),
    Row::new(
        "ReduceLogSum",
        1,
        Flow::Reduce,
        Single(|c| reduce(c, 18, |x, d| sum(x, d)?.log())),
    )
    .emit(Emit::Single(spell::reduce::log_sum)),
    Row::new(
        "ReduceLogSumExp",
        1,
        Flow::Reduce,
        Single(|c| reduce(c, 18, log_sum_exp)),
    )
    .emit(Emit::Single(spell::reduce::log_sum_exp)),
    Row::new(
        "ReduceSumSquare",
        1,
        Flow::Reduce,
        Single(|c| reduce(c, 18, |x, d| sum(&x.mul(x)?, d))),
    )
    .emit(Emit::Single(spell::reduce::sum_square)),
    Row::new(
        "ArgMax",
        1,
        Flow::Reduce,
        Single(|c| arg(c, |x, axis| x.argmax(axis))),
    )
    .emit(Emit::Single(spell::reduce::arg_max)),
    Row::new(
        "ArgMin",
        1,
        Flow::Reduce,
        Single(|c| arg(c, |x, axis| x.argmin(axis))),
    )
    .emit(Emit::Single(spell::reduce::arg_min)),
    Row::new(
        "CumSum",
        11,
        Same,
        Single(|c| scan(c, 0.0, |x, axis| x.cumsum_with(axis, x.dtype()))),
    ),
    Row::new(
        "CumProd",
        26,
        Same,
        Single(|c| scan(c, 1.0, |x, axis| x.cumprod_with(axis, x.dtype()))),
    ),
    Row::new(
        "Softmax",
        1,
        Same,
        Single(|c| along(c, |x, axis| x.softmax(axis))),
    )
    .emit(Emit::Single(spell::reduce::softmax)),
    Row::new(
        "LogSoftmax",
        1,
        Same,
        Single(|c| along(c, |x, axis| x.log_softmax(axis))),
    )
    .emit(Emit::Single(spell::reduce::log_softmax)),
    Row::new("Hardmax", 1, Same, Single(|c| along(c, hardmax))),
];

type Reduce = fn(&DynTensor, &[i64]) -> Result<DynTensor>;

fn options(x: &DynTensor) -> ReduceOptions {
    ReduceOptions {
        keepdim: true,
        dtype: Some(x.dtype()),
    }
}

fn sum(x: &DynTensor, dims: &[i64]) -> Result<DynTensor> {
    x.sum_with(dims, options(x))
}

fn mean(x: &DynTensor, dims: &[i64]) -> Result<DynTensor> {
    if x.dtype().is_integral() {
        return x
            .to_dtype(DType::F64)?
            .mean_with(
                dims,
                ReduceOptions {
                    keepdim: true,
                    dtype: None,
                },
            )?
            .to_dtype(x.dtype());
    }
    x.mean_with(dims, options(x))
}

fn prod(x: &DynTensor, dims: &[i64]) -> Result<DynTensor> {
    dims.iter()
        .try_fold(x.clone(), |x, &dim| x.prod_with(dim, options(&x)))
}

/// The shape with the reduced dims as 1.
fn kept(x: &DynTensor, dims: &[i64]) -> Vec<usize> {
    let mut shape = x.shape().to_vec();
    dims.iter().for_each(|&dim| shape[dim as usize] = 1);
    shape
}

fn extreme(x: &DynTensor, dims: &[i64], largest: bool) -> Result<DynTensor> {
    let shape = kept(x, dims);
    if dims.iter().any(|&dim| x.shape()[dim as usize] == 0) {
        let end = if x.dtype().is_float() {
            f64::INFINITY
        } else {
            return Err(nomina_core::Error::new(
                nomina_core::ErrorKind::Argument,
                "ReduceMax",
                "an empty dim has no largest integer",
            ));
        };
        return full(&shape, if largest { -end } else { end }, x.dtype());
    }
    let bytes = if x.dtype() == DType::Bool {
        x.to_dtype(DType::U8)?
    } else {
        x.clone()
    };
    let y = if largest {
        bytes.amax(dims)?
    } else {
        bytes.amin(dims)?
    };
    reshape(&y, &shape)?.to_dtype(x.dtype())
}

fn max(x: &DynTensor, dims: &[i64]) -> Result<DynTensor> {
    extreme(x, dims, true)
}

fn min(x: &DynTensor, dims: &[i64]) -> Result<DynTensor> {
    extreme(x, dims, false)
}

fn l2(x: &DynTensor, dims: &[i64]) -> Result<DynTensor> {
    if x.dtype().is_integral() {
        return l2(&x.to_dtype(DType::F64)?, dims)?.to_dtype(x.dtype());
    }
    sum(&x.mul(x)?, dims)?.sqrt()
}

fn log_sum_exp(x: &DynTensor, dims: &[i64]) -> Result<DynTensor> {
    let wide = x.to_dtype(DType::F64)?;
    if dims.iter().any(|&dim| x.shape()[dim as usize] == 0) {
        return full(&kept(x, dims), f64::NEG_INFINITY, x.dtype());
    }
    let top = max(&wide, dims)?;
    let finite = top.isfinite()?.where_cond(&top, &top.zeros_like()?)?;
    sum(&wide.sub(&finite)?.exp()?, dims)?
        .log()?
        .add(&finite)?
        .to_dtype(x.dtype())
}

/// Reduces the dims of attribute `axes`, which is an input since an opset.
fn reduce(c: &Call<'_>, since: i64, op: Reduce) -> Result<DynTensor> {
    let x = c.x(0)?;
    let axes = if c.opset() >= since {
        c.ints_at(1)?
    } else {
        c.ints("axes")?
    };
    let axes = c.axes(&axes.unwrap_or_default(), x.rank())?;
    let axes = if axes.is_empty() && !c.flag("noop_with_empty_axes", false)? {
        (0..x.rank()).collect()
    } else {
        axes
    };
    let dims = sizes(&axes);
    let y = if x.rank() == 0 {
        reshape(&op(&reshape(x, &[1])?, &[0])?, &[])?
    } else if axes.is_empty() {
        // No dim is reduced, and the function of each element remains.
        let mut shape = x.shape().to_vec();
        shape.push(1);
        return reshape(&op(&reshape(x, &shape)?, &[x.rank() as i64])?, x.shape());
    } else {
        op(x, &dims)?
    };
    if c.flag("keepdims", true)? {
        return Ok(y);
    }
    let shape: Vec<_> = (0..x.rank())
        .filter(|dim| !axes.contains(dim))
        .map(|dim| x.shape()[dim])
        .collect();
    reshape(&y, &shape)
}

fn arg(c: &Call<'_>, op: fn(&DynTensor, i64) -> Result<DynTensor>) -> Result<DynTensor> {
    let x = c.x(0)?;
    let axis = c.axis(c.int("axis", 0)?, x.rank())?;
    let y = if c.flag("select_last_index", false)? {
        op(&x.flip(axis as i64)?, axis as i64)?
            .neg()?
            .add(x.shape()[axis] as i64 - 1)?
    } else {
        op(x, axis as i64)?
    };
    let mut shape = x.shape().to_vec();
    if c.flag("keepdims", true)? {
        shape[axis] = 1;
    } else {
        shape.remove(axis);
    }
    reshape(&y, &shape)
}

fn scan(
    c: &Call<'_>,
    start: f64,
    op: fn(&DynTensor, i64) -> Result<DynTensor>,
) -> Result<DynTensor> {
    let (x, axis) = (c.x(0)?, c.x(1)?);
    c.require(axis.numel() == 1, "the axis is no scalar")?;
    let at = c.axis(reshape(axis, &[])?.item()?.to_i64(), x.rank())?;
    let dim = at as i64;
    let reverse = c.flag("reverse", false)?;
    let turned = if reverse { x.flip(dim)? } else { x.clone() };
    let mut y = op(&turned, dim)?;
    if c.flag("exclusive", false)? && x.shape()[at] > 0 {
        let mut shape = x.shape().to_vec();
        shape[at] = 1;
        let first = full(&shape, start, x.dtype())?;
        y = DynTensor::cat(&[&first, &y.narrow(dim, 0, x.shape()[at] - 1)?], dim)?;
    }
    if reverse { y.flip(dim) } else { Ok(y) }
}

/// Before opset 13 all dims from `axis` on count as one.
fn along(c: &Call<'_>, op: fn(&DynTensor, i64) -> Result<DynTensor>) -> Result<DynTensor> {
    let x = c.x(0)?;
    if c.opset() >= 13 {
        return op(x, c.axis(c.int("axis", -1)?, x.rank())? as i64);
    }
    let axis = c.axis(c.int("axis", 1)?, x.rank())?;
    let (a, b) = x.shape().split_at(axis);
    let flat = reshape(x, &[a.iter().product(), b.iter().product()])?;
    reshape(&op(&flat, 1)?, x.shape())
}

fn hardmax(x: &DynTensor, axis: i64) -> Result<DynTensor> {
    let at = axis as usize;
    let mut shape = vec![1; x.rank()];
    shape[at] = x.shape()[at];
    let places = from_floats(
        (0..shape[at]).map(|i| i as f64).collect(),
        &shape,
        DType::I64,
    )?;
    let mut one = x.shape().to_vec();
    one[at] = 1;
    reshape(&x.argmax(axis)?, &one)?
        .eq(&places)?
        .to_dtype(x.dtype())
}
