//! Statistics: norms, moments and running results.

use nomina_by_name::Value;

use super::with;
use crate::translate::{Call, Own, inexpressible};
use crate::words::number;

/// Returns the typed form, if it does not follow from the row.
pub fn call(call: &Call<'_>) -> Own {
    let words = match call.op.name() {
        "norm" if call.given("dtype").is_some() => {
            inexpressible("a dtype that types do not see: convert first")
        }
        "norm" if matches!(call.given("p"), Some(Value::Str(_))) => {
            inexpressible("a norm by its name: it has a number")
        }
        "cov" | "corrcoef" if call.own().is_none_or(|x| x.rank() != 2) => {
            inexpressible("one variable: `var`")
        }
        "renorm" => {
            let dim = call.dim(call.given("dim").unwrap_or(&Value::None))?;
            let float = |name| call.given(name).and_then(number).unwrap_or_default();
            let (p, most) = (float("p"), float("maxnorm"));
            call.method(
                "renorm",
                &[format!("{p} as f64"), dim, format!("{most} as f64")],
            )
        }
        "dist" => with(call, &["&x1".into()], "NormOptions", &["p"]),
        _ => return Ok(None),
    };
    words.map(Some)
}
