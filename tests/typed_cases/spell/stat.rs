//! Statistics: norms, moments and running results.

use nomina_runtime::invoke::Value;

use super::with;
use crate::translate::{Call, Own, inexpressible};

/// The typed form, where it does not follow from the row.
pub fn call(call: &Call<'_>) -> Own {
    let words = match call.op.name() {
        "norm" if call.given("dtype").is_some() => {
            inexpressible("a dtype that types do not see: convert first")
        }
        "norm" if matches!(call.given("p"), Some(Value::Str(_))) => {
            inexpressible("a norm by its name: it has a number")
        }
        "dist" => with(call, &["&x1".into()], "NormOptions", &["p"]),
        _ => return Ok(None),
    };
    words.map(Some)
}
