//! Shapes and new tensors.

use nomina::{DType, DynTensor, Scalar};
use nomina_core::Result;

use crate::call::{Call, from_floats, from_ints, reshape, sizes};
use crate::emit::ops as spell;
use crate::emit::spell::Emit;
use crate::graph::Attribute;
use crate::names::flow::Flow::{self, First, Fresh, Same};
use crate::proto::tensor;
use crate::table::Row;
use crate::table::Run::Single;

pub const ROWS: &[Row] = &[
    Row::new("Constant", 1, Fresh, Single(constant)),
    Row::new(
        "ConstantOfShape",
        9,
        Flow::Shaped,
        Single(constant_of_shape),
    )
    .emit(Emit::Single(spell::pick::constant_of_shape)),
    Row::new("Shape", 1, Flow::Shape, Single(shape)),
    Row::new(
        "Size",
        1,
        Flow::Shape,
        Single(|c| DynTensor::from_vec(vec![c.x(0)?.numel() as i64], &[], ())),
    ),
    Row::new("Reshape", 5, Flow::Reshape, Single(reshape_to))
        .emit(Emit::Single(spell::order::reshape)),
    Row::new("Flatten", 1, Flow::Reshape, Single(flatten))
        .emit(Emit::Single(spell::order::reshape)),
    Row::new("Squeeze", 1, Flow::Squeeze, Single(squeeze))
        .emit(Emit::Single(spell::order::squeeze)),
    Row::new("Unsqueeze", 1, Flow::Unsqueeze, Single(unsqueeze))
        .emit(Emit::Single(spell::order::unsqueeze)),
    Row::new("Range", 11, Fresh, Single(range)).emit(Emit::Single(spell::pick::range)),
    Row::new("EyeLike", 9, First, Single(eye_like)),
    Row::new("Dropout", 7, Same, crate::table::Run::Tensors(dropout))
        .emit(Emit::Single(spell::window::same)),
];

fn constant(c: &Call<'_>) -> Result<DynTensor> {
    let value = c
        .node
        .attributes
        .first()
        .ok_or_else(|| c.fail("no value"))?;
    match &value.1 {
        Attribute::Tensor(tensor) => Ok(tensor.clone()),
        Attribute::Float(value) => DynTensor::from_vec(vec![*value], &[], ()),
        Attribute::Int(value) => DynTensor::from_vec(vec![*value], &[], ()),
        Attribute::Floats(values) => DynTensor::from_vec(values.clone(), &[values.len()], ()),
        Attribute::Ints(values) => DynTensor::from_vec(values.clone(), &[values.len()], ()),
        Attribute::Unread(why) => Err(c.fail(why.clone())),
        _ => Err(c.fail(format!("attribute `{}` is not supported", value.0))),
    }
}

/// Returns the sizes in an input.
pub fn sizes_at(c: &Call<'_>, at: usize) -> Result<Vec<usize>> {
    let sizes = c
        .ints_at(at)?
        .ok_or_else(|| c.fail("the sizes are missing"))?;
    let sizes = sizes
        .into_iter()
        .map(usize::try_from)
        .collect::<std::result::Result<Vec<_>, _>>();
    sizes.map_err(|_| c.fail("a size is negative"))
}

/// A tensor of one number.
pub fn full(shape: &[usize], value: impl Into<Scalar>, dtype: DType) -> Result<DynTensor> {
    DynTensor::options().dtype(dtype).full(shape, value, ())
}

fn constant_of_shape(c: &Call<'_>) -> Result<DynTensor> {
    let shape = sizes_at(c, 0)?;
    match c.attribute("value")? {
        None => full(&shape, 0.0, DType::F32),
        Some(Attribute::Tensor(value)) => {
            c.require(value.numel() == 1, "`value` has not one element")?;
            reshape(value, &vec![1; shape.len()])?
                .expand(&sizes(&shape))?
                .contiguous()
        }
        Some(_) => Err(c.fail("`value` is no tensor")),
    }
}

fn shape(c: &Call<'_>) -> Result<DynTensor> {
    let all = sizes(c.x(0)?.shape());
    let n = all.len() as i64;
    let bound = |at: i64| (if at < 0 { at.saturating_add(n) } else { at }).clamp(0, n) as usize;
    let (start, end) = (bound(c.int("start", 0)?), bound(c.int("end", n)?));
    let part = all.get(start..end.max(start)).unwrap_or(&[]).to_vec();
    let length = part.len();
    from_ints(part, &[length])
}

fn reshape_to(c: &Call<'_>) -> Result<DynTensor> {
    let x = c.x(0)?;
    let mut shape = c
        .ints_from("shape", 1)?
        .ok_or_else(|| c.fail("the sizes are missing"))?;
    if !c.flag("allowzero", false)? {
        for (at, size) in shape.iter_mut().enumerate() {
            if *size == 0 {
                let own = x
                    .shape()
                    .get(at)
                    .ok_or_else(|| c.fail("a size 0 copies a dim that is not there"))?;
                *size = *own as i64;
            }
        }
    }
    // PyTorch cannot tell -1 among sizes of 0.
    if x.numel() == 0
        && let Some(at) = shape.iter().position(|&size| size == -1)
    {
        let others = shape.iter().filter(|&&size| size != -1).product::<i64>();
        shape[at] = if others == 0 {
            0
        } else {
            x.numel() as i64 / others
        };
    }
    x.reshape(&shape)
}

fn flatten(c: &Call<'_>) -> Result<DynTensor> {
    let x = c.x(0)?;
    let rank = x.rank() as i64;
    let axis = c.int("axis", 1)?;
    let axis = if axis < 0 { axis + rank } else { axis };
    c.require((0..=rank).contains(&axis), "`axis` is not among the dims")?;
    let (a, b) = x.shape().split_at(axis as usize);
    reshape(x, &[a.iter().product(), b.iter().product()])
}

fn squeeze(c: &Call<'_>) -> Result<DynTensor> {
    let x = c.x(0)?;
    let axes = match c.ints_from("axes", 1)? {
        Some(axes) => c.axes(&axes, x.rank())?,
        None => (0..x.rank()).filter(|&dim| x.shape()[dim] == 1).collect(),
    };
    c.require(
        axes.iter().all(|&dim| x.shape()[dim] == 1),
        "a squeezed dim has not size 1",
    )?;
    let kept: Vec<_> = (0..x.rank())
        .filter(|dim| !axes.contains(dim))
        .map(|dim| x.shape()[dim])
        .collect();
    reshape(x, &kept)
}

fn unsqueeze(c: &Call<'_>) -> Result<DynTensor> {
    let x = c.x(0)?;
    let axes = c
        .ints_from("axes", 1)?
        .ok_or_else(|| c.fail("the axes are missing"))?;
    let rank = x.rank() + axes.len();
    let axes = c.axes(&axes, rank)?;
    let mut own = x.shape().iter();
    let shape: Vec<_> = (0..rank)
        .map(|dim| {
            if axes.contains(&dim) {
                1
            } else {
                own.next().copied().unwrap_or(1)
            }
        })
        .collect();
    reshape(x, &shape)
}

fn range(c: &Call<'_>) -> Result<DynTensor> {
    let (start, limit, step) = (c.x(0)?, c.x(1)?, c.x(2)?);
    let dtype = start.dtype();
    let most = 1i64 << 31;
    if dtype.is_integral() {
        let [a, b, s] = [start, limit, step].map(|x| x.item().map(Scalar::to_i64));
        let (a, b, s) = (a?, b?, s?);
        c.require(s != 0, "the step is 0")?;
        let span = i128::from(b) - i128::from(a);
        let count = (span / i128::from(s) + i128::from(span % i128::from(s) != 0)).max(0);
        let count = if (span > 0) == (s > 0) { count } else { 0 };
        c.require(count < i128::from(most), "the range is too long")?;
        let data = (0..count as i64)
            .map(|i| a.wrapping_add(i.wrapping_mul(s)))
            .collect();
        return from_ints(data, &[count as usize])?.to_dtype(dtype);
    }
    let [a, b, s] = [start, limit, step].map(|x| x.item().map(Scalar::to_f64));
    let (a, b, s) = (a?, b?, s?);
    let count = ((b - a) / s).ceil().max(0.0);
    c.require(count < most as f64, "the range is not finite")?;
    let data = (0..count as i64).map(|i| a + i as f64 * s).collect();
    from_floats(data, &[count as usize], dtype)
}

fn eye_like(c: &Call<'_>) -> Result<DynTensor> {
    let x = c.x(0)?;
    let &[n, m] = x.shape() else {
        return Err(c.fail("the input is no matrix"));
    };
    let (k, to) = (c.int("k", 0)?, c.maybe_int("dtype")?);
    let dtype = to.map_or(Ok(x.dtype()), tensor::dtype)?;
    let data = (0..n * m)
        .map(|at| f64::from(u8::from((at % m) as i64 - (at / m) as i64 == k)))
        .collect();
    from_floats(data, &[n, m], dtype)
}

fn dropout(c: &Call<'_>) -> Result<Vec<DynTensor>> {
    let x = c.x(0)?;
    let training = match c.maybe(2)? {
        Some(training) => training.item()?.to_bool(),
        None => false,
    };
    let ratio = match c.maybe(1)? {
        Some(ratio) => ratio.item()?.to_f64(),
        None => c.float("ratio", 0.5)?,
    };
    c.require(
        !training || ratio == 0.0,
        "dropping at random is for training, and results cannot be compared",
    )?;
    let mask = if c.opset() < 10 {
        full(x.shape(), 1.0, x.dtype())?
    } else {
        full(x.shape(), true, DType::Bool)?
    };
    Ok(vec![x.clone(), mask])
}
