//! Sorting, order statistics, counting.

use nomina_by_name::Value;

use crate::translate::{Call, Own, inexpressible};

/// Returns the typed form, if it does not follow from the row.
pub fn call(call: &Call<'_>) -> Own {
    match call.op.name() {
        "quantile" | "nanquantile" if matches!(call.given("q"), Some(Value::Tensor(_))) => {
            inexpressible("several quantiles: `quantiles`, which names their dim")
        }
        "unique" | "unique_consecutive" if call.given("dim").is_some() => {
            inexpressible("slices of a dim: `unique_dim`")
        }
        // Recorded calls do not name the dim of the bins, but the typed form must.
        "histc" => inexpressible("a new dim without a name"),
        _ => Ok(None),
    }
}
