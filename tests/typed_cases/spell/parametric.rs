//! Elementwise functions with parameters.

use nomina_by_name::Value;

use super::{value, with};
use crate::translate::{Call, Own, Words};

/// Returns the typed form, if it does not follow from the row.
pub fn call(call: &Call<'_>) -> Own {
    let words = match call.op.name() {
        "isclose" | "allclose" => {
            let options = ["rtol", "atol", "equal_nan"];
            with(call, &["&x1".into()], "CloseOptions", &options)
        }
        _ => return Ok(None),
    };
    words.map(Some)
}

/// Writes `div` with a rounding mode.
pub fn div(call: &Call<'_>) -> Option<Words> {
    let mode = match call.given("rounding_mode") {
        Some(Value::Str(mode)) if mode == "floor" => "Floor",
        Some(Value::Str(_)) => "Trunc",
        _ => return None,
    };
    let options = format!("DivOptions {{ rounding_mode: RoundingMode::{mode} }}");
    Some(value(call, "other").and_then(|other| call.method("div_with", &[other, options])))
}

/// Writes `gelu` with an approximation.
pub fn gelu(call: &Call<'_>) -> Option<Words> {
    let approximate = match call.given("approximate") {
        Some(Value::Str(name)) if name == "tanh" => "Tanh",
        Some(Value::Str(_)) => "None",
        _ => return None,
    };
    let options = format!("GeluOptions {{ approximate: Approximate::{approximate} }}");
    Some(call.method("gelu_with", &[options]))
}
