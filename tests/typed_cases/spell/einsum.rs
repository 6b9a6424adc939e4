//! Products by letters, by names and of several operands.

use super::with;
use crate::translate::{Call, Own, inexpressible};

/// Returns the typed form, if it does not follow from the row.
pub fn call(call: &Call<'_>) -> Own {
    let words = match call.op.name() {
        "addr" => {
            let names = ["beta", "alpha"];
            with(call, &["&x1".into(), "&x2".into()], "AddmmOptions", &names)
        }
        "inner" if call.tensors.iter().any(|x| x.rank() == 0) => {
            inexpressible("inner with a number: `mul`")
        }
        _ => return Ok(None),
    };
    words.map(Some)
}
