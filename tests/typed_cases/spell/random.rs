//! Random fills.

use nomina_by_name::Value;

use super::positional;
use crate::translate::{Call, Own};
use crate::words::number;

/// Returns the typed form, if it does not follow from the row.
pub fn call(call: &Call<'_>) -> Own {
    let words = match call.op.name() {
        "uniform" => positional(call, "uniform", &[("from", "0.0"), ("to", "1.0")]),
        "normal_" => positional(call, "normal", &[("mean", "0.0"), ("std", "1.0")]),
        "log_normal" => positional(call, "log_normal", &[("mean", "1.0"), ("std", "2.0")]),
        "exponential" => positional(call, "exponential", &[("lambd", "1.0")]),
        "cauchy" => positional(call, "cauchy", &[("median", "0.0"), ("sigma", "1.0")]),
        "geometric" => positional(call, "geometric", &[("p", "0.5")]),
        "bernoulli" if call.form == nomina_by_name::Form::InPlace => {
            positional(call, "bernoulli", &[("p", "0.5")])
        }
        "bernoulli" if call.given("p").is_some() => {
            crate::translate::inexpressible("a probability beside those of the elements")
        }
        "random" => {
            let bound = |name| call.given(name).and_then(number).unwrap_or_default();
            // A single bound is the upper one.
            let range = match (call.given("from"), call.given("to")) {
                (Some(_), None) if call.bound.get("to").is_some() => format!("{}..", bound("from")),
                (Some(_), None) => format!("..{}", bound("from")),
                _ => format!("{}..{}", bound("from"), bound("to")),
            };
            call.method("random", &[range])
        }
        "randint_like" if call.given("dtype").is_some() => {
            crate::translate::inexpressible("another dtype: `to` afterwards")
        }
        "randint_like" => {
            let bound = |name| call.given(name).and_then(number).unwrap_or("0".into());
            match call.given("high") {
                Some(Value::Int(_)) => {
                    let range = format!("{}..{}", bound("low"), bound("high"));
                    call.method("randint_like", &[range])
                }
                _ => return Ok(None),
            }
        }
        _ => return Ok(None),
    };
    words.map(Some)
}
