//! Attributes, conversions by name, and resizing.

use nomina_core::op::Status;
use nomina_runtime::invoke::{Form, Value};

use crate::translate::{Call, Own, inexpressible};
use crate::words::dtype;

/// The typed form, where it does not follow from the row.
pub fn call(call: &Call<'_>) -> Own {
    if call.op.row().status != Status::Built {
        return inexpressible("what waits for gradients");
    }
    let words = match call.op.name() {
        "type" => match call.given("dtype") {
            Some(Value::DType(given)) => format!("give(x0.try_to::<{}>()?)", dtype(*given)),
            _ => "give(x0.type_name())".to_owned(),
        },
        "is_same_size" => "give(x0.is_same_size(&x1))".to_owned(),
        "is_nonzero" => "give(x0.try_is_nonzero()?)".to_owned(),
        "detach" if call.form == Form::InPlace => "x0.detach_(); give(x0)".to_owned(),
        "detach" => "give(x0.detach())".to_owned(),
        "resize" => match (call.bound.get("size"), call.own()) {
            (Some(Value::List(sizes)), Some(x)) if sizes.len() != x.rank() => {
                return inexpressible("sizes for another number of dims");
            }
            _ => return Ok(None),
        },
        "resize_as" => match &call.tensors[..] {
            [own, other] if own.names() != other.names() => {
                return inexpressible("a resize to other dims");
            }
            _ => return Ok(None),
        },
        _ => return Ok(None),
    };
    Ok(Some(words))
}
