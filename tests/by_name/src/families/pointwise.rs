//! Elementwise operators with irregular arguments.

use nomina_core::op::Op;
use nomina_core::{Result, Scalar};

use super::in_place;
use crate::bind::Bound;
use crate::generated::Pointwise;
use crate::read::optional;
use crate::value::Value;
use crate::{Form, computed};
use nomina_runtime::tensor::{AddOptions, AddcmulOptions, DivOptions, Operand, RoundingMode};

/// Calls operator `op`, given as `which` of this family.
pub(crate) fn call(which: Pointwise, op: Op, form: Form, mut args: Bound) -> Result<Value> {
    let args = &mut args;
    match which {
        Pointwise::Add | Pointwise::Sub => scaled(op, form, args),
        Pointwise::Clamp => computed(op, form, args, |a| {
            a.tensor("self")?
                .clamp(optional(a, "min")?, optional(a, "max")?)
        }),
        Pointwise::Addcmul => computed(op, form, args, |a| {
            let value = a.scalar("value")?;
            a.tensor("self")?.addcmul_with(
                a.tensor("tensor1")?,
                a.operand("tensor2")?,
                AddcmulOptions { value },
            )
        }),
        Pointwise::Div => div(op, form, args),
        Pointwise::Where => computed(op, form, args, |a| {
            a.tensor("condition")?
                .where_cond(a.operand("self")?, a.operand("other")?)
        }),
        Pointwise::MaskedFill if form == Form::InPlace => in_place(args, |own, a| {
            own.masked_fill_(a.tensor("mask")?, a.operand("value")?)
                .map(drop)
        }),
        Pointwise::MaskedFill => computed(op, form, args, |a| {
            a.tensor("self")?
                .masked_fill(a.tensor("mask")?, a.operand("value")?)
        }),
    }
}

/// Calls `div` with a rounding mode in any form; a number may be the left operand.
fn div(op: Op, form: Form, args: &mut Bound) -> Result<Value> {
    let rounding_mode = match args.word("rounding_mode", &["trunc", "floor"])? {
        None => return crate::pointwise(op, form, args.clone()),
        Some(0) => RoundingMode::Trunc,
        Some(_) => RoundingMode::Floor,
    };
    let options = DivOptions { rounding_mode };
    computed(op, form, args, |a| match a.operand("self")? {
        Operand::Tensor(x) => x.div_with(a.operand("other")?, options),
        number @ Operand::Scalar(_) => nomina_runtime::tensor::family::pointwise(
            options.chosen(),
            &[number, a.operand("other")?],
        )
        .map_err(|error| error.in_op("div")),
    })
}

fn scaled(op: Op, form: Form, args: &mut Bound) -> Result<Value> {
    let alpha = args.scalar("alpha")?;
    let options = AddOptions { alpha };
    let number = !matches!(args.get("self"), Some(Value::Tensor(_)));
    if number && alpha == Scalar::Int(1) && form == Form::Function {
        return crate::pointwise(op, form, args.clone());
    }
    match form {
        Form::Function | Form::Method => {
            let (x, other) = (args.tensor("self")?, args.operand("other")?);
            let sum = if op == Op::Add {
                x.add_with(other, options)
            } else {
                x.sub_with(other, options)
            };
            sum.map(Value::Tensor)
        }
        Form::InPlace => in_place(args, |own, a| {
            let other = a.operand("other")?;
            let done = if op == Op::Add {
                own.add_with_(other, options)
            } else {
                own.sub_with_(other, options)
            };
            done.map(drop)
        }),
        Form::Out => {
            let mut out = args.take_out()?;
            let (x, other) = (args.tensor("self")?, args.operand("other")?);
            if op == Op::Add {
                x.add_with_out(other, options, &mut out)?;
            } else {
                x.sub_with_out(other, options, &mut out)?;
            }
            Ok(Value::Tensor(out))
        }
    }
}
