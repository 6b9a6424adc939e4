//! Losses and distances.

use nomina_by_name::Value;

use super::value;
use crate::translate::{Call, Own};

/// Returns the typed form, if it does not follow from the row.
pub fn call(call: &Call<'_>) -> Own {
    let (name, target) = match call.op.name() {
        name @ ("mse_loss" | "l1_loss") => (name, value(call, "target")?),
        _ => return Ok(None),
    };
    let reduction = match call.given("reduction") {
        Some(Value::Str(text)) if text == "sum" => "reduction::Sum",
        Some(Value::Str(text)) if text == "none" => "reduction::None",
        _ => "reduction::Mean",
    };
    let words = call.method(&format!("{name}_with"), &[target, reduction.into()]);
    words.map(Some)
}
