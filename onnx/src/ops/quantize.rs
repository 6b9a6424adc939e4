//! Quantised operators, with exact integer products.

use nomina::{DType, DynTensor};
use nomina_core::Result;
use nomina_runtime::call::ConvAfter;

use super::conv::conv;
use super::norm::along_channels;
use crate::call::{Call, reshape};
use crate::names::flow::Flow::{self, First, Fresh};
use crate::proto::tensor;
use crate::table::Row;
use crate::table::Run::{Single, Tensors};

pub const ROWS: &[Row] = &[
    Row::new("QuantizeLinear", 10, First, Single(quantize)),
    Row::new("DequantizeLinear", 10, First, Single(dequantize)),
    Row::new("DynamicQuantizeLinear", 11, First, Tensors(dynamic)),
    Row::new("MatMulInteger", 10, Flow::MatMul, Single(matmul_integer)),
    Row::new("ConvInteger", 10, Flow::Conv, Single(conv_integer)),
    Row::new("QLinearMatMul", 10, Fresh, Single(qlinear_matmul)),
    Row::new("QLinearConv", 10, Fresh, Single(qlinear_conv)),
];

/// The smallest and the largest number of an integer dtype.
fn limits(c: &Call<'_>, dtype: DType) -> Result<(f64, f64)> {
    Ok(match dtype {
        DType::U8 => (0.0, 255.0),
        DType::I8 => (-128.0, 127.0),
        DType::I16 => (-32768.0, 32767.0),
        DType::I32 => (f64::from(i32::MIN), f64::from(i32::MAX)),
        other => return Err(c.fail(format!("quantising to {other} is not supported"))),
    })
}

/// Spreads one scale, one per element of `axis`, or one per block of it, over `x`.
fn spread(c: &Call<'_>, scale: &DynTensor, x: &DynTensor) -> Result<DynTensor> {
    if scale.numel() == 1 {
        return reshape(scale, &[]);
    }
    let axis = c.axis(c.int("axis", 1)?, x.rank())?;
    let block = c.int("block_size", 0)?;
    if block > 0 {
        c.require(
            scale.rank() == x.rank(),
            "the scales have not the dims of the tensor",
        )?;
        let wide = scale.repeat_interleave(block, axis as i64)?;
        c.require(
            wide.shape()[axis] >= x.shape()[axis],
            "there are too few blocks",
        )?;
        return wide.narrow(axis as i64, 0, x.shape()[axis]);
    }
    c.require(
        scale.rank() == 1 && scale.numel() == x.shape()[axis],
        "there is not one scale per element of the axis",
    )?;
    let mut shape = vec![1; x.rank()];
    shape[axis] = scale.numel();
    reshape(scale, &shape)
}

fn stated_dtype(c: &Call<'_>, name: &str) -> Result<Option<DType>> {
    match c.int(name, 0)? {
        0 => Ok(None),
        number => tensor::dtype(number).map(Some).map_err(|_| {
            c.fail(format!(
                "the dtype {} is not supported",
                tensor::type_name(number)
            ))
        }),
    }
}

/// Rounds to integers, adds the zero point, and saturates.
fn saturate(
    c: &Call<'_>,
    scaled: &DynTensor,
    zero: Option<&DynTensor>,
    dtype: DType,
) -> Result<DynTensor> {
    let (low, high) = limits(c, dtype)?;
    let mut y = scaled.to_dtype(DType::F64)?.round()?;
    if let Some(zero) = zero {
        y = y.add(&zero.to_dtype(DType::F64)?)?;
    }
    y.clamp_min(low)?.clamp_max(high)?.to_dtype(dtype)
}

fn quantize(c: &Call<'_>) -> Result<DynTensor> {
    let x = c.x(0)?;
    let scale = spread(c, c.x(1)?, x)?;
    let zero = c.maybe(2)?.map(|zero| spread(c, zero, x)).transpose()?;
    let dtype = match &zero {
        Some(zero) => zero.dtype(),
        None => stated_dtype(c, "output_dtype")?.unwrap_or(DType::U8),
    };
    let precision = stated_dtype(c, "precision")?.unwrap_or(if x.dtype().is_float() {
        x.dtype()
    } else {
        DType::F32
    });
    let scaled = x.to_dtype(precision)?.div(&scale.to_dtype(precision)?)?;
    saturate(c, &scaled, zero.as_ref(), dtype)
}

fn dequantize(c: &Call<'_>) -> Result<DynTensor> {
    let x = c.x(0)?;
    c.require(
        x.dtype().is_integral(),
        "the input is not quantised to integers",
    )?;
    let scale = spread(c, c.x(1)?, x)?;
    let mut y = x.to_dtype(DType::F64)?;
    if let Some(zero) = c.maybe(2)? {
        y = y.sub(&spread(c, zero, x)?.to_dtype(DType::F64)?)?;
    }
    let dtype = stated_dtype(c, "output_dtype")?.unwrap_or(scale.dtype());
    y.mul(&scale.to_dtype(DType::F64)?)?.to_dtype(dtype)
}

fn dynamic(c: &Call<'_>) -> Result<Vec<DynTensor>> {
    let x = c.x(0)?;
    let flat = reshape(x, &[x.numel()])?;
    let high = flat.amax(0)?.clamp_min(0.0)?;
    let low = flat.amin(0)?.clamp_max(0.0)?;
    let scale = high.sub(&low)?.div(255.0)?;
    let zero = low
        .neg()?
        .div(&scale)?
        .clamp_min(0.0)?
        .clamp_max(255.0)?
        .round()?
        .to_dtype(DType::U8)?;
    Ok(vec![
        saturate(c, &x.div(&scale)?, Some(&zero), DType::U8)?,
        scale,
        zero,
    ])
}

/// Subtracts the zero point; integers up to 2^53 are exact in `f64`.
fn centred(x: &DynTensor, zero: Option<DynTensor>) -> Result<DynTensor> {
    let x = x.to_dtype(DType::F64)?;
    match zero {
        Some(zero) => x.sub(&zero.to_dtype(DType::F64)?),
        None => Ok(x),
    }
}

/// A number per row of the left operand, as a column.
fn per_row(zero: &DynTensor) -> Result<DynTensor> {
    match zero.rank() {
        1 if zero.numel() > 1 => reshape(zero, &[zero.numel(), 1]),
        1 => reshape(zero, &[]),
        _ => Ok(zero.clone()),
    }
}

fn matmul_integer(c: &Call<'_>) -> Result<DynTensor> {
    let a = centred(c.x(0)?, c.maybe(2)?.map(per_row).transpose()?)?;
    let b = centred(c.x(1)?, c.maybe(3)?.cloned())?;
    a.matmul(&b)?.to_dtype(DType::I32)
}

/// A number per output channel of the weight.
fn per_channel(zero: &DynTensor, rank: usize) -> Result<DynTensor> {
    if zero.numel() == 1 {
        return reshape(zero, &[]);
    }
    let mut shape = vec![1; rank];
    shape[0] = zero.numel();
    reshape(zero, &shape)
}

fn exact_conv(
    c: &Call<'_>,
    x: (&DynTensor, Option<&DynTensor>),
    w: (&DynTensor, Option<&DynTensor>),
) -> Result<DynTensor> {
    let zero = x.1.map(|zero| reshape(zero, &[])).transpose()?;
    let w_zero = w.1.map(|zero| per_channel(zero, w.0.rank())).transpose()?;
    conv(
        c,
        &centred(x.0, zero)?,
        &centred(w.0, w_zero)?,
        None,
        ConvAfter::default(),
    )
}

fn conv_integer(c: &Call<'_>) -> Result<DynTensor> {
    exact_conv(c, (c.x(0)?, c.maybe(2)?), (c.x(1)?, c.maybe(3)?))?.to_dtype(DType::I32)
}

fn qlinear_matmul(c: &Call<'_>) -> Result<DynTensor> {
    let a = centred(c.x(0)?, Some(per_row(c.x(2)?)?))?;
    let b = centred(c.x(3)?, Some(c.x(5)?.clone()))?;
    let wide = |x: &DynTensor| x.to_dtype(DType::F64);
    let scale = wide(&per_row(c.x(1)?)?)?
        .mul(&wide(c.x(4)?)?)?
        .div(&wide(&per_row(c.x(6)?)?)?)?;
    let zero = per_row(c.x(7)?)?;
    saturate(c, &a.matmul(&b)?.mul(&scale)?, Some(&zero), zero.dtype())
}

fn qlinear_conv(c: &Call<'_>) -> Result<DynTensor> {
    let mut y = exact_conv(c, (c.x(0)?, Some(c.x(2)?)), (c.x(3)?, Some(c.x(5)?)))?;
    if let Some(bias) = c.maybe(8)? {
        y = y.add(&along_channels(&bias.to_dtype(DType::F64)?, y.rank())?)?;
    }
    let wide = |at: usize| c.x(at)?.to_dtype(DType::F64);
    let w_scale = wide(4)?;
    let w_scale = if w_scale.numel() == 1 {
        reshape(&w_scale, &[])?
    } else {
        along_channels(&w_scale, y.rank())?
    };
    let scale = reshape(&wide(1)?, &[])?
        .mul(&w_scale)?
        .div(&reshape(&wide(6)?, &[])?)?;
    let zero = reshape(c.x(7)?, &[])?;
    saturate(c, &y.mul(&scale)?, Some(&zero), zero.dtype())
}
