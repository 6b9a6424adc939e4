//! Attributes, conversions and resizing.

use nomina_runtime::invoke::Value;

use crate::translate::{Call, Own, inexpressible};
use crate::words::dtype;

/// The typed form, where it does not follow from the row.
pub fn call(call: &Call<'_>) -> Own {
    let words = match call.op.name() {
        "type_as" => match call.tensors.get(1) {
            Some(x) => Ok(format!("give(x0.try_to::<{}>()?)", dtype(x.dtype()))),
            None => inexpressible("type_as of nothing"),
        },
        "requires_grad" | "is_leaf" | "grad" => inexpressible("gradients are not built"),
        "resize" => match (call.own(), call.bound.get("size")) {
            (Some(x), Some(Value::List(sizes))) if sizes.len() == x.rank() => {
                return Ok(None);
            }
            _ => inexpressible("another rank in place: the type does not change"),
        },
        "resize_as" => match &call.tensors[..] {
            [x, like] if x.rank() == like.rank() => call.method("resize_as", &["&x1".into()]),
            _ => inexpressible("another rank in place: the type does not change"),
        },
        _ => return Ok(None),
    };
    words.map(Some)
}
