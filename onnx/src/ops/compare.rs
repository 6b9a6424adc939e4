//! Comparisons, truth values and choices.

use nomina::DynTensor;
use nomina_core::Result;

use crate::call::Call;
use crate::emit::ops as spell;
use crate::emit::spell::Emit;
use crate::names::flow::Flow::{Broadcast, Same};
use crate::table::Row;
use crate::table::Run::{Binary, Single, Unary};

pub const ROWS: &[Row] = &[
    Row::new("Equal", 7, Broadcast, Binary(|a, b| a.eq(b))).emit(Emit::Binary("eq")),
    Row::new("Greater", 7, Broadcast, Binary(|a, b| a.gt(b))).emit(Emit::Binary("gt")),
    Row::new("GreaterOrEqual", 12, Broadcast, Binary(|a, b| a.ge(b))).emit(Emit::Binary("ge")),
    Row::new("Less", 7, Broadcast, Binary(|a, b| a.lt(b))).emit(Emit::Binary("lt")),
    Row::new("LessOrEqual", 12, Broadcast, Binary(|a, b| a.le(b))).emit(Emit::Binary("le")),
    Row::new("And", 7, Broadcast, Binary(|a, b| a.logical_and(b)))
        .emit(Emit::Binary("logical_and")),
    Row::new("Or", 7, Broadcast, Binary(|a, b| a.logical_or(b))).emit(Emit::Binary("logical_or")),
    Row::new("Xor", 7, Broadcast, Binary(|a, b| a.logical_xor(b)))
        .emit(Emit::Binary("logical_xor")),
    Row::new("Not", 1, Same, Unary(DynTensor::logical_not)).emit(Emit::Method("logical_not")),
    Row::new("IsNaN", 9, Same, Unary(DynTensor::isnan)).emit(Emit::Method("isnan")),
    Row::new("IsInf", 10, Same, Single(is_inf)),
    Row::new(
        "Where",
        9,
        Broadcast,
        Single(|c| c.x(0)?.where_cond(c.x(1)?, c.x(2)?)),
    )
    .emit(Emit::Single(spell::elementwise::choose)),
];

fn is_inf(c: &Call<'_>) -> Result<DynTensor> {
    let x = c.x(0)?;
    match (
        c.flag("detect_negative", true)?,
        c.flag("detect_positive", true)?,
    ) {
        (true, true) => x.isinf(),
        (true, false) => x.isneginf(),
        (false, true) => x.isposinf(),
        (false, false) => x.isinf()?.logical_and(false),
    }
}
