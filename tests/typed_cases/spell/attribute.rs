//! Attributes, conversions and resizing.

use nomina_by_name::{Form, Value};

use crate::translate::{Call, Own, inexpressible};
use crate::words::dtype;

/// Returns the typed form, if it does not follow from the row.
pub fn call(call: &Call<'_>) -> Own {
    let words = match call.op.name() {
        "type_as" => match call.tensors.get(1) {
            Some(x) => Ok(format!("give(x0.try_to::<{}>()?)", dtype(x.dtype()))),
            None => inexpressible("type_as of nothing"),
        },
        "detach" if call.form == Form::InPlace => Ok("x0.detach_(); give(x0)".into()),
        "detach" => Ok("give(x0.detach())".into()),
        "type" => inexpressible("a word of Rust's: `type_name`"),
        "is_nonzero" => Ok("give(x0.try_is_nonzero()?)".into()),
        "is_same_size" => Ok("give(x0.is_same_size(&x1))".into()),
        _ if call.given("memory_format").is_some() => {
            inexpressible("another spelling in types: tests/typed_*.rs")
        }
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
