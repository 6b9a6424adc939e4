//! Activations.

use crate::translate::{Call, Own, inexpressible};

/// Returns the typed form, if it does not follow from the row.
pub fn call(call: &Call<'_>) -> Own {
    match call.op.name() {
        "prelu" if call.tensors.get(1).is_some_and(|weight| weight.rank() == 0) => {
            inexpressible("prelu with a number: `where_cond` and a product")
        }
        _ => Ok(None),
    }
}
