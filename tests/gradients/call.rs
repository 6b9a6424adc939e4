//! A call in the form that derivatives are written for: without names, dims as positions, every
//! parameter with a value.

use nomina::{DynTensor, Names};
use nomina_by_name::{Bound, Form, Value, invoke};
use nomina_core::op::{Forms, Op, Param, ParamKind};

use crate::tape::{Said, said, tensors};

/// Calls a row with a value for each parameter; `None`s are omitted.
pub fn run(op: Op, values: &[(&'static str, Value)]) -> Said<Value> {
    let given = values
        .iter()
        .filter(|(_, value)| !matches!(value, Value::None));
    let given = given.map(|(name, value)| ((*name).to_owned(), value.clone()));
    let form = if op.row().forms.contains(Forms::IN_PLACE_ONLY) {
        Form::InPlace
    } else if op.row().forms.contains(Forms::FUNCTION) {
        Form::Function
    } else {
        Form::Method
    };
    said(Bound::new(op, Vec::new(), given.collect()).and_then(|args| invoke(op, form, args)))
}

/// Returns the values of all parameters of a recorded call.
pub fn values(op: Op, bound: &Bound) -> Said<Vec<(&'static str, Value)>> {
    let params: Vec<Param> = op.row().params().collect();
    let given = params.iter().filter_map(|param| bound.get(param.name));
    let names = given
        .flat_map(tensors)
        .next()
        .map_or(Names::unnamed(0), |x| x.names().clone());
    params
        .iter()
        .map(|param| {
            let value = match bound.get(param.name) {
                Some(value) => plain(op, param, value, &names)?,
                None => default(param),
            };
            Ok((param.name, value))
        })
        .collect()
}

/// Replaces names by positions.
fn plain(op: Op, param: &Param, value: &Value, names: &Names) -> Said<Value> {
    let dims = matches!(param.kind, ParamKind::Dim | ParamKind::Dims);
    let position = |name: &str| {
        let found = names
            .iter()
            .position(|own| own.as_ref().is_some_and(|own| own.as_str() == name));
        let found = found.ok_or_else(|| format!("no dim {name}"))?;
        Ok(Value::Int(found as i64))
    };
    match value {
        Value::Tensor(x) => Ok(Value::Tensor(unnamed(x)?)),
        Value::List(items) => {
            let items = items.iter().map(|item| plain(op, param, item, names));
            Ok(Value::List(items.collect::<Said<_>>()?))
        }
        Value::Str(name) if dims => position(name),
        // A single dim without a name.
        Value::None if dims && matches!(op, Op::Prod | Op::Logsumexp) => {
            let at = names.iter().position(|name| name.is_none());
            Ok(at.map_or(Value::None, |at| Value::Int(at as i64)))
        }
        other => Ok(other.clone()),
    }
}

pub fn unnamed(x: &DynTensor) -> Said<DynTensor> {
    let rank = x.shape().len();
    said(DynTensor::from_parts(
        x.clone().into_parts().0,
        Names::unnamed(rank),
    ))
}

/// Returns the default of a parameter in the signature.
pub fn default(param: &Param) -> Value {
    let text = param.default.unwrap_or("None");
    match (text, param.kind) {
        ("None", _) => Value::None,
        ("True", _) => Value::Bool(true),
        ("False", _) => Value::Bool(false),
        _ => match (text.parse(), text.parse()) {
            (Ok(int), _) => Value::Int(int),
            (_, Ok(float)) => Value::Float(float),
            _ => Value::Str(text.to_owned()),
        },
    }
}
