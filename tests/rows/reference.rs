//! What a row's reference comes to: calls of other operators, as `div(add(amin(x), amax(x)), 2)`.

use nomina::{Error, ErrorKind, Result};
use nomina_by_name::{Bound, Form, Value, invoke};
use nomina_core::op::Op;

use crate::inputs::Inputs;

/// The reference of a row, of the arguments of a call. Operators that take what the row takes are given
/// the call's other arguments too: dims, `keepdim`.
pub fn of(op: Op, inputs: &Inputs) -> Result<Value> {
    let mut rest = op.row().reference;
    value(op, inputs, &mut rest)
}

/// The next operand: a number, one of the call's, or a call of another operator.
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
