//! Operators with irregular arguments or rules, one file per family of the table; each match is
//! exhaustive, one arm per operator.

pub(crate) mod activation;
pub(crate) mod analysis;
pub(crate) mod attribute;
pub(crate) mod contract;
pub(crate) mod conv;
pub(crate) mod einsum;
pub(crate) mod factory;
pub(crate) mod fft;
pub(crate) mod gather;
pub(crate) mod index;
pub(crate) mod linalg;
pub(crate) mod loss;
pub(crate) mod math;
pub(crate) mod names;
pub(crate) mod norm;
pub(crate) mod number;
pub(crate) mod parametric;
pub(crate) mod pointwise;
pub(crate) mod query;
pub(crate) mod random;
pub(crate) mod reduce;
pub(crate) mod shape;
pub(crate) mod sort;
pub(crate) mod sparse;
pub(crate) mod stat;
pub(crate) mod view;

use nomina_core::Result;
use nomina_core::op::Op;

use crate::bind::Bound;
use crate::value::{Value, wrong};
use crate::{Form, no_form};
use nomina_runtime::tensor::{DynTensor, family};

fn value(
    op: Op,
    form: Form,
    args: &Bound,
    answer: impl FnOnce(&Bound) -> Result<Value>,
) -> Result<Value> {
    match form {
        Form::Function | Form::Method => answer(args),
        Form::InPlace | Form::Out => Err(no_form(op, form)),
    }
}

fn pure(
    op: Op,
    form: Form,
    args: &Bound,
    compute: impl FnOnce(&Bound) -> Result<DynTensor>,
) -> Result<Value> {
    value(op, form, args, |a| compute(a).map(Value::Tensor))
}

/// Calls an operator with two results, optionally with two out tensors.
fn pair(
    op: Op,
    form: Form,
    args: &mut Bound,
    compute: impl FnOnce(&Bound) -> Result<(DynTensor, DynTensor)>,
) -> Result<Value> {
    match form {
        Form::Function | Form::Method => Ok(compute(args)?.into()),
        Form::InPlace => Err(no_form(op, form)),
        Form::Out => match args.out.take() {
            Some(Value::List(mut outs)) => match (outs.pop(), outs.pop(), outs.pop()) {
                (Some(Value::Tensor(mut second)), Some(Value::Tensor(mut first)), None) => {
                    family::store_pair(op, compute(args)?, &mut first, &mut second)?;
                    Ok((first, second).into())
                }
                _ => Err(wrong(op.name(), "out", "two tensors", &Value::List(outs))),
            },
            Some(other) => Err(wrong(op.name(), "out", "two tensors", &other)),
            None => Err(no_form(op, form)),
        },
    }
}

fn in_place(
    args: &mut Bound,
    write: impl FnOnce(&mut DynTensor, &Bound) -> Result<()>,
) -> Result<Value> {
    let mut own = args.take_tensor("self")?;
    write(&mut own, args)?;
    Ok(Value::Tensor(own))
}

fn only_in_place(
    op: Op,
    form: Form,
    args: &mut Bound,
    write: impl FnOnce(&mut DynTensor, &Bound) -> Result<()>,
) -> Result<Value> {
    if form == Form::InPlace {
        in_place(args, write)
    } else {
        Err(no_form(op, form))
    }
}
