//! Operators with arguments or rules of their own, a file per family of the table: one arm per
//! operator, none left over.

pub(in crate::tensor) mod activation;
pub(in crate::tensor) mod attribute;
pub(in crate::tensor) mod contract;
pub(in crate::tensor) mod conv;
pub(in crate::tensor) mod einsum;
pub(in crate::tensor) mod factory;
pub(in crate::tensor) mod gather;
pub(in crate::tensor) mod index;
pub(in crate::tensor) mod loss;
pub(in crate::tensor) mod math;
pub(in crate::tensor) mod names;
pub(in crate::tensor) mod norm;
pub(in crate::tensor) mod number;
pub(in crate::tensor) mod parametric;
pub(in crate::tensor) mod pointwise;
pub(in crate::tensor) mod query;
pub(in crate::tensor) mod random;
pub(in crate::tensor) mod reduce;
pub(in crate::tensor) mod shape;
pub(in crate::tensor) mod sort;
pub(in crate::tensor) mod sparse;
pub(in crate::tensor) mod stat;
pub(in crate::tensor) mod view;

use nomina_core::Result;
use nomina_core::op::Op;

use super::bind::Bound;
use super::value::{Value, wrong};
use super::{Form, no_form};
use crate::tensor::{DynTensor, family};

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

/// An operator with two results, which may go to two out tensors.
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
