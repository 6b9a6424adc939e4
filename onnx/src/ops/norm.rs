//! Normalisations.

use nomina::dynamic::{BatchNormOptions, LayerNormOptions, ReduceOptions, RmsNormOptions};
use nomina::{DType, DynTensor};
use nomina_core::Result;

use super::move_elements::pad_constant;
use crate::call::{Call, reshape, sizes};
use crate::emit::ops as spell;
use crate::emit::spell::Emit;
use crate::names::flow::Flow::{LastDims, Normalized, Same};
use crate::table::Row;
use crate::table::Run::{Single, Tensors};

pub const ROWS: &[Row] = &[
    Row::new("BatchNormalization", 6, Normalized, Tensors(batch_norm))
        .emit(Emit::Single(spell::product::batch_norm)),
    Row::new(
        "InstanceNormalization",
        6,
        Normalized,
        Single(instance_norm),
    )
    .emit(Emit::Single(spell::product::instance_norm)),
    Row::new("GroupNormalization", 18, Normalized, Single(group_norm)),
    Row::new("LayerNormalization", 17, LastDims, Tensors(layer_norm))
        .emit(Emit::Single(spell::product::layer_norm)),
    Row::new("RMSNormalization", 23, LastDims, Single(rms_norm)),
    Row::new("LRN", 1, Same, Single(lrn)).emit(Emit::Single(spell::product::lrn)),
    Row::new("LpNormalization", 1, Same, Single(lp_norm)),
    Row::new("MeanVarianceNormalization", 9, Same, Single(mean_variance)),
];

const KEEP: ReduceOptions = ReduceOptions {
    keepdim: true,
    dtype: None,
};

/// Reshapes a vector of channels to multiply dim 1.
pub fn along_channels(v: &DynTensor, rank: usize) -> Result<DynTensor> {
    let mut shape = vec![1; rank.max(2)];
    shape[1] = v.numel();
    reshape(v, &shape)
}

fn batch_norm(c: &Call<'_>) -> Result<Vec<DynTensor>> {
    let (x, mean, var) = (c.x(0)?, c.x(3)?, c.x(4)?);
    c.require(x.rank() >= 2, "the input has no channels")?;
    let eps = c.float("epsilon", 1e-5)?;
    let options = BatchNormOptions {
        weight: Some(c.x(1)?),
        bias: Some(c.x(2)?),
        eps,
        ..Default::default()
    };
    if !c.flag("training_mode", false)? {
        c.require(
            !c.wants(1) && (c.opset() > 6 || c.flag("is_test", false)?),
            "training is not supported in this opset",
        )?;
        c.require(c.flag("spatial", true)?, "`spatial` 0 is not supported")?;
        if [mean, var, c.x(1)?, c.x(2)?]
            .iter()
            .any(|t| t.dtype() != x.dtype())
        {
            let [w, b, m, v] = [c.x(1)?, c.x(2)?, mean, var].map(|t| along_channels(t, x.rank()));
            let y = x
                .sub(&m?)?
                .mul(&v?.add(eps)?.rsqrt()?)?
                .mul(&w?)?
                .add(&b?)?;
            return Ok(vec![y.to_dtype(x.dtype())?]);
        }
        return Ok(vec![x.batch_norm_eval(1, mean, var, options)?]);
    }
    let dims: Vec<i64> = (0..x.rank() as i64).filter(|&dim| dim != 1).collect();
    let own = x.mean_with(&dims, KEEP)?;
    let spread = x.sub(&own)?.square()?.mean_with(&dims, KEEP)?;
    let [w, b] = [c.x(1)?, c.x(2)?].map(|t| along_channels(t, x.rank()));
    let y = x
        .sub(&own)?
        .mul(&spread.add(eps)?.rsqrt()?)?
        .mul(&w?)?
        .add(&b?)?;
    let momentum = c.float("momentum", 0.9)?;
    let blend = |old: &DynTensor, new: &DynTensor| {
        old.mul(momentum)?
            .add(&reshape(new, old.shape())?.mul(1.0 - momentum)?)
    };
    Ok(vec![y, blend(mean, &own)?, blend(var, &spread)?])
}

fn instance_norm(c: &Call<'_>) -> Result<DynTensor> {
    let x = c.x(0)?;
    c.require(x.rank() >= 3, "the input has no positions")?;
    let dims: Vec<i64> = (2..x.rank() as i64).collect();
    let options = LayerNormOptions {
        eps: c.float("epsilon", 1e-5)?,
        ..Default::default()
    };
    let y = x.layer_norm_with(&dims, options)?;
    y.mul(&along_channels(c.x(1)?, x.rank())?)?
        .add(&along_channels(c.x(2)?, x.rank())?)
}

fn group_norm(c: &Call<'_>) -> Result<DynTensor> {
    let (x, mut scale, mut bias) = (c.x(0)?, c.x(1)?.clone(), c.x(2)?.clone());
    let groups = usize::try_from(c.int("num_groups", 0)?).unwrap_or(0);
    let &[n, channels, ..] = x.shape() else {
        return Err(c.fail("the input has no channels"));
    };
    c.require(
        groups > 0 && channels % groups == 0,
        "the channels do not divide into groups",
    )?;
    let rest = x.numel() / (n * groups).max(1);
    let options = LayerNormOptions {
        eps: c.float("epsilon", 1e-5)?,
        ..Default::default()
    };
    let y = reshape(x, &[n, groups, rest])?.layer_norm_with(2, options)?;
    if c.opset() < 21 {
        let repeat = (channels / groups) as i64;
        scale = scale.repeat_interleave(repeat, 0)?;
        bias = bias.repeat_interleave(repeat, 0)?;
    }
    let y = reshape(&y, x.shape())?;
    y.mul(&along_channels(&scale, x.rank())?)?
        .add(&along_channels(&bias, x.rank())?)
}

fn last_dims(c: &Call<'_>) -> Result<Vec<i64>> {
    let x = c.x(0)?;
    let axis = c.axis(c.int("axis", -1)?, x.rank())?;
    Ok((axis as i64..x.rank() as i64).collect())
}

/// The dtype in which statistics are computed.
fn stash(c: &Call<'_>, x: &DynTensor) -> Result<DynTensor> {
    match c.int("stash_type", 1)? {
        1 if x.dtype() == DType::F64 => Ok(x.clone()),
        1 => x.to_dtype(DType::F32),
        16 => x.to_dtype(DType::BF16),
        10 => x.to_dtype(DType::F16),
        11 => x.to_dtype(DType::F64),
        _ => Err(c.fail("the `stash_type` is unknown")),
    }
}

fn layer_norm(c: &Call<'_>) -> Result<Vec<DynTensor>> {
    let (x, dims) = (c.x(0)?, last_dims(c)?);
    let eps = c.float("epsilon", 1e-5)?;
    let wide = stash(c, x)?;
    let (weight, bias) = (c.x(1)?, c.maybe(2)?);
    // The kernel takes vectors beside the last dim.
    let is_vector =
        |v: &DynTensor| v.dtype() == x.dtype() && x.shape()[dims[0] as usize..] == *v.shape();
    let fits = dims.len() == 1 && wide.dtype() == x.dtype();
    let y = if fits && is_vector(weight) && bias.is_none_or(is_vector) {
        let options = LayerNormOptions {
            weight: Some(weight),
            bias,
            eps,
        };
        x.layer_norm_with(&dims, options)?
    } else {
        let options = LayerNormOptions {
            eps,
            ..Default::default()
        };
        let y = wide.layer_norm_with(&dims, options)?.to_dtype(x.dtype())?;
        let y = y.mul(weight)?;
        match bias {
            Some(bias) => y.add(bias)?,
            None => y,
        }
    };
    let mut all = vec![y];
    if c.wants(1) || c.wants(2) {
        let mean = wide.mean_with(&dims, KEEP)?;
        let var = wide.sub(&mean)?.square()?.mean_with(&dims, KEEP)?;
        all.extend([mean, var.add(eps)?.rsqrt()?]);
    }
    Ok(all)
}

fn rms_norm(c: &Call<'_>) -> Result<DynTensor> {
    let (x, dims) = (c.x(0)?, last_dims(c)?);
    let eps = Some(c.float("epsilon", 1e-5)?);
    let y = stash(c, x)?.rms_norm_with(&dims, RmsNormOptions { weight: None, eps })?;
    y.to_dtype(x.dtype())?.mul(c.x(1)?)
}

fn lrn(c: &Call<'_>) -> Result<DynTensor> {
    let x = c.x(0)?;
    c.require(x.rank() >= 2, "the input has no channels")?;
    let (alpha, beta, bias) = (
        c.float("alpha", 1e-4)?,
        c.float("beta", 0.75)?,
        c.float("bias", 1.0)?,
    );
    let size = c.int("size", 0)?;
    let channels = x.shape()[1];
    c.require(size > 0 && size as u64 <= 1 << 20, "`size` is not positive")?;
    let before = (size - 1) / 2;
    let squares = pad_constant(&x.square()?, 1, (before, size - 1 - before), 0.0)?;
    let mut sum = squares.narrow(1, 0, channels)?;
    for at in 1..size {
        sum = sum.add(&squares.narrow(1, at, channels)?)?;
    }
    x.div(&sum.mul(alpha / size as f64)?.add(bias)?.pow(beta)?)
}

fn lp_norm(c: &Call<'_>) -> Result<DynTensor> {
    let x = c.x(0)?;
    let axis = c.axis(c.int("axis", -1)?, x.rank())? as i64;
    let norm = match c.int("p", 2)? {
        1 => x.abs()?.sum_with(axis, KEEP)?,
        2 => x.square()?.sum_with(axis, KEEP)?.sqrt()?,
        _ => return Err(c.fail("`p` is neither 1 nor 2")),
    };
    norm.eq(0.0)?.where_cond(&x.zeros_like()?, &x.div(&norm)?)
}

fn mean_variance(c: &Call<'_>) -> Result<DynTensor> {
    let x = c.x(0)?;
    let axes = c.axes(&c.ints("axes")?.unwrap_or_else(|| vec![0, 2, 3]), x.rank())?;
    let dims = sizes(&axes);
    let mean = x.mean_with(&dims, KEEP)?;
    let spread = x
        .square()?
        .mean_with(&dims, KEEP)?
        .sub(&mean.square()?)?
        .sqrt()?;
    x.sub(&mean)?.div(&spread.add(1e-9)?)
}
