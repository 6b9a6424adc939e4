//! Elementwise operators: arithmetic and functions.

use nomina::{DType, DivOptions, DynTensor, RoundingMode};
use nomina_core::Result;

use crate::call::Call;
use crate::emit::ops as spell;
use crate::emit::spell::Emit;
use crate::graph::Attribute;
use crate::names::flow::Flow::{Broadcast, Same};
use crate::proto::tensor;
use crate::table::Row;
use crate::table::Run::{Binary, Single, Unary};

pub const ROWS: &[Row] = &[
    Row::new("Abs", 1, Same, Unary(DynTensor::abs)).emit(Emit::Method("abs")),
    Row::new("Acos", 7, Same, Unary(DynTensor::acos)).emit(Emit::Method("acos")),
    Row::new("Acosh", 9, Same, Unary(DynTensor::acosh)).emit(Emit::Method("acosh")),
    Row::new("Asin", 7, Same, Unary(DynTensor::asin)).emit(Emit::Method("asin")),
    Row::new("Asinh", 9, Same, Unary(DynTensor::asinh)).emit(Emit::Method("asinh")),
    Row::new("Atan", 7, Same, Unary(DynTensor::atan)).emit(Emit::Method("atan")),
    Row::new("Atanh", 9, Same, Unary(DynTensor::atanh)).emit(Emit::Method("atanh")),
    Row::new("Ceil", 1, Same, Unary(DynTensor::ceil)).emit(Emit::Method("ceil")),
    Row::new("Cos", 7, Same, Unary(DynTensor::cos)).emit(Emit::Method("cos")),
    Row::new("Cosh", 9, Same, Unary(DynTensor::cosh)).emit(Emit::Method("cosh")),
    Row::new("Erf", 9, Same, Unary(DynTensor::erf)).emit(Emit::Method("erf")),
    Row::new("Exp", 1, Same, Unary(DynTensor::exp)).emit(Emit::Method("exp")),
    Row::new("Floor", 1, Same, Unary(DynTensor::floor)).emit(Emit::Method("floor")),
    Row::new(
        "Identity",
        1,
        Same,
        crate::table::Run::Values(|c| Ok(vec![c.value(0)?.clone()])),
    )
    .emit(Emit::Single(spell::window::same)),
    Row::new("Log", 1, Same, Unary(DynTensor::log)).emit(Emit::Method("log")),
    Row::new("Neg", 1, Same, Unary(DynTensor::neg)).emit(Emit::Method("neg")),
    Row::new("Reciprocal", 1, Same, Unary(DynTensor::reciprocal)).emit(Emit::Method("reciprocal")),
    Row::new("Round", 11, Same, Unary(DynTensor::round)).emit(Emit::Method("round")),
    Row::new("Sign", 9, Same, Unary(DynTensor::sign)).emit(Emit::Method("sign")),
    Row::new("Sin", 7, Same, Unary(DynTensor::sin)).emit(Emit::Method("sin")),
    Row::new("Sinh", 9, Same, Unary(DynTensor::sinh)).emit(Emit::Method("sinh")),
    Row::new("Sqrt", 1, Same, Unary(DynTensor::sqrt)).emit(Emit::Method("sqrt")),
    Row::new("Tan", 7, Same, Unary(DynTensor::tan)).emit(Emit::Method("tan")),
    Row::new("Tanh", 1, Same, Unary(DynTensor::tanh)).emit(Emit::Method("tanh")),
    Row::new("Add", 6, Broadcast, Binary(|a, b| a.add(b))).emit(Emit::Infix("+")),
    Row::new("Sub", 6, Broadcast, Binary(|a, b| a.sub(b))).emit(Emit::Infix("-")),
    Row::new("Mul", 6, Broadcast, Binary(|a, b| a.mul(b))).emit(Emit::Infix("*")),
    Row::new("Div", 6, Broadcast, Binary(div)).emit(Emit::Single(spell::elementwise::div)),
    Row::new(
        "Pow",
        6,
        Broadcast,
        Binary(|a, b| a.pow(b)?.to_dtype(a.dtype())),
    )
    .emit(Emit::Single(spell::elementwise::pow)),
    Row::new("Mod", 10, Broadcast, Single(modulo)),
    Row::new("BitShift", 11, Broadcast, Single(shift)),
    Row::new("BitwiseAnd", 18, Broadcast, Binary(|a, b| a.bitwise_and(b))),
    Row::new("BitwiseOr", 18, Broadcast, Binary(|a, b| a.bitwise_or(b))),
    Row::new("BitwiseXor", 18, Broadcast, Binary(|a, b| a.bitwise_xor(b))),
    Row::new("BitwiseNot", 18, Same, Unary(DynTensor::bitwise_not)),
    Row::new(
        "Max",
        6,
        Broadcast,
        Single(|c| fold(c, |a, b| a.maximum(b))),
    )
    .emit(Emit::Single(spell::elementwise::max)),
    Row::new(
        "Min",
        6,
        Broadcast,
        Single(|c| fold(c, |a, b| a.minimum(b))),
    )
    .emit(Emit::Single(spell::elementwise::min)),
    Row::new("Sum", 6, Broadcast, Single(|c| fold(c, |a, b| a.add(b))))
        .emit(Emit::Single(spell::elementwise::sum)),
    Row::new("Mean", 6, Broadcast, Single(mean)).emit(Emit::Single(spell::elementwise::mean)),
    Row::new("Cast", 6, Same, Single(cast)).emit(Emit::Single(spell::elementwise::cast)),
    Row::new(
        "CastLike",
        15,
        Same,
        Single(|c| convert(c, c.x(1)?.dtype())),
    )
    .emit(Emit::Single(spell::elementwise::cast)),
    Row::new("BitCast", 26, Same, Single(bit_cast)),
    Row::new("Clip", 6, Same, Single(clip)).emit(Emit::Single(spell::elementwise::clip)),
];

fn div(a: &DynTensor, b: &DynTensor) -> Result<DynTensor> {
    if a.dtype().is_integral() {
        a.div_with(
            b,
            DivOptions {
                rounding_mode: RoundingMode::Trunc,
            },
        )
    } else {
        a.div(b)
    }
}

fn modulo(c: &Call<'_>) -> Result<DynTensor> {
    let (a, b) = (c.x(0)?, c.x(1)?);
    if c.flag("fmod", false)? {
        a.fmod(b)
    } else {
        a.remainder(b)
    }
}

fn shift(c: &Call<'_>) -> Result<DynTensor> {
    let (a, b) = (c.x(0)?, c.x(1)?);
    match c.text("direction", "")? {
        "LEFT" => a.bitwise_left_shift(b),
        "RIGHT" => a.bitwise_right_shift(b),
        other => Err(c.fail(format!("direction `{other}` is neither LEFT nor RIGHT"))),
    }
}

fn fold(c: &Call<'_>, op: fn(&DynTensor, &DynTensor) -> Result<DynTensor>) -> Result<DynTensor> {
    let all = c.all()?;
    let (first, rest) = all.split_first().ok_or_else(|| c.fail("no input"))?;
    rest.iter().try_fold((*first).clone(), |sum, x| op(&sum, x))
}

fn mean(c: &Call<'_>) -> Result<DynTensor> {
    let count = c.all()?.len();
    fold(c, |a, b| a.add(b))?.div(count as f64)
}

fn cast(c: &Call<'_>) -> Result<DynTensor> {
    let to = c.int("to", 0)?;
    let dtype = tensor::dtype(to).map_err(|_| {
        c.fail(format!(
            "the dtype {} is not supported",
            tensor::type_name(to)
        ))
    })?;
    convert(c, dtype)
}

fn convert(c: &Call<'_>, dtype: DType) -> Result<DynTensor> {
    c.require(
        !c.node
            .attribute("round_mode")
            .is_some_and(|a| matches!(a, Attribute::Text(t) if t != "up")),
        "this `round_mode` is not supported",
    )?;
    c.x(0)?.to_dtype(dtype)
}

fn bit_cast(c: &Call<'_>) -> Result<DynTensor> {
    let (x, to) = (c.x(0)?.contiguous()?, c.int("to", 0)?);
    let dtype = tensor::dtype(to).map_err(|_| {
        c.fail(format!(
            "the dtype {} is not supported",
            tensor::type_name(to)
        ))
    })?;
    c.require(
        dtype.size() == x.dtype().size(),
        "the dtypes differ in size",
    )?;
    let bytes = x
        .raw()
        .as_bytes()
        .ok_or_else(|| c.fail("the elements are not on the host"))?;
    tensor::from_bytes(dtype, x.shape(), bytes)
}

fn clip(c: &Call<'_>) -> Result<DynTensor> {
    let x = c.x(0)?;
    let (mut y, old) = (x.clone(), c.opset() < 11);
    if let Some(min) = c.maybe(1)? {
        y = y.maximum(min)?;
    } else if let (true, Some(min)) = (old, c.maybe_float("min")?) {
        y = y.clamp_min(min)?;
    }
    if let Some(max) = c.maybe(2)? {
        y = y.minimum(max)?;
    } else if let (true, Some(max)) = (old, c.maybe_float("max")?) {
        y = y.clamp_max(max)?;
    }
    Ok(y)
}
