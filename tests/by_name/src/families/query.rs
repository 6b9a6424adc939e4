//! Operators that query a property.

use nomina_core::Result;
use nomina_core::op::Op;

use super::value;
use crate::Form;
use crate::bind::Bound;
use crate::generated::Query;
use crate::read::ints;
use crate::value::Value;

/// Calls operator `op`, given as `which` of this family.
pub(crate) fn call(which: Query, op: Op, form: Form, mut args: Bound) -> Result<Value> {
    let args = &mut args;
    match which {
        Query::Size => value(op, form, args, |a| {
            let x = a.tensor("self")?;
            match a.given("dim") {
                None => Ok(ints(x.shape())),
                Some(_) => Ok(Value::Int(x.size(a.dim("dim")?)? as i64)),
            }
        }),
        Query::Stride => value(op, form, args, |a| {
            let x = a.tensor("self")?;
            match a.given("dim") {
                None => Ok(Value::List(
                    x.strides().iter().map(|&s| Value::Int(s as i64)).collect(),
                )),
                Some(_) => Ok(Value::Int(x.stride(a.dim("dim")?)? as i64)),
            }
        }),
        Query::Names => value(op, form, args, |a| {
            let name = |name: &Option<nomina_core::Name>| match name {
                Some(name) => Value::from(name.as_str()),
                None => Value::None,
            };
            Ok(Value::List(
                a.tensor("self")?.names().iter().map(name).collect(),
            ))
        }),
        Query::HasNames => value(op, form, args, |a| Ok(a.tensor("self")?.has_names().into())),
        Query::Item => value(op, form, args, |a| Ok(a.tensor("self")?.item()?.into())),
        Query::Shape => value(op, form, args, |a| Ok(ints(a.tensor("self")?.shape()))),
        Query::Dim => value(op, form, args, |a| {
            Ok(Value::Int(a.tensor("self")?.rank() as i64))
        }),
        Query::Numel => value(op, form, args, |a| {
            Ok(Value::Int(a.tensor("self")?.numel() as i64))
        }),
        Query::Dtype => value(op, form, args, |a| Ok(a.tensor("self")?.dtype().into())),
        Query::Device => value(op, form, args, |a| match (form, a.device("self")) {
            // `torch.device("cpu")`.
            (Form::Function, Ok(Some(device))) => Ok(device.into()),
            (Form::Function, Err(error)) if a.tensor("self").is_err() => Err(error),
            _ => Ok(a.tensor("self")?.device().into()),
        }),
        Query::StorageOffset => value(op, form, args, |a| {
            Ok(Value::Int(a.tensor("self")?.storage_offset() as i64))
        }),
        Query::IsContiguous => value(op, form, args, |a| {
            let format = a.format()?.unwrap_or_default();
            Ok(a.tensor("self")?.is_contiguous_with(format).into())
        }),
        Query::Equal => value(op, form, args, |a| {
            Ok(a.tensor("self")?.equal(a.tensor("other")?)?.into())
        }),
    }
}
