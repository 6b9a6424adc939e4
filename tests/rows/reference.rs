//! Evaluates a row's reference: calls of other operators, such as `div(add(amin(x), amax(x)), 2)`.

use nomina::{Error, ErrorKind, Result};
use nomina_by_name::{Bound, Form, Value, invoke};
use nomina_core::op::Op;

use crate::inputs::Inputs;

/// Evaluates the reference of a row on the arguments of a call. An operator with the same parameters as the row also
/// gets the call's other arguments, such as dims and `keepdim`.
pub fn of(op: Op, inputs: &Inputs) -> Result<Value> {
    let mut rest = op.row().reference;
    value(op, inputs, &mut rest)
}

/// Evaluates the next operand: a number, an argument of the call, or a call of another operator.
fn value(op: Op, inputs: &Inputs, rest: &mut &'static str) -> Result<Value> {
    let end = rest.find(['(', ')', ',']).unwrap_or(rest.len());
    let word = rest[..end].trim();
    *rest = &rest[end..];
    if !rest.starts_with('(') {
        let place = ["x", "y", "z"].iter().position(|&name| name == word);
        return match (place, word.parse()) {
            (Some(place), _) => Ok(inputs.args[place].clone()),
            (None, Ok(number)) => Ok(Value::Float(number)),
            (None, Err(_)) => Err(Error::new(ErrorKind::Argument, word, "no operand")),
        };
    }
    let mut args = Vec::new();
    while !rest.starts_with(')') {
        *rest = &rest[1..];
        args.push(value(op, inputs, rest)?);
    }
    *rest = &rest[1..];
    let called = Op::from_name(word)
        .ok_or_else(|| Error::new(ErrorKind::Argument, word, "no operator has this name"))?;
    let mut kwargs = Vec::new();
    if called.row().signature == op.row().signature {
        args.extend(inputs.args.iter().skip(args.len()).cloned());
        kwargs.clone_from(&inputs.kwargs);
    }
    invoke(called, Form::Function, Bound::new(called, args, kwargs)?)
}
