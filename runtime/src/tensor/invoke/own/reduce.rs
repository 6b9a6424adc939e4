//! Reductions with arguments of their own.

use crate::tensor::generated::own::Reduce;
use crate::tensor::invoke::bind::Bound;
use crate::tensor::invoke::value::{Value, wrong};
use crate::tensor::invoke::{Form, computed, no_form};
use nomina_core::op::Op;
use nomina_core::{Result, Scalar};

/// Calls `own`, which is `op` by another name.
pub(in crate::tensor) fn call(own: Reduce, op: Op, form: Form, mut args: Bound) -> Result<Value> {
    let args = &mut args;
    match own {
        Reduce::Var | Reduce::Std => computed(op, form, args, |a| {
            let correction = a.scalar("correction", Scalar::Int(1))?.to_f64();
            let dims = a.dims("dim", true)?.with_keepdim(a.flag("keepdim")?);
            let options = crate::call::ReduceOptions {
                correction,
                ..Default::default()
            };
            crate::tensor::family::reduce(op, a.tensor("self")?, &dims, options)
        }),
        Reduce::Max | Reduce::Min => extremum(op, form, args),
        Reduce::Argmax | Reduce::Argmin => computed(op, form, args, |a| {
            let dims = a.dims("dim", true)?.with_keepdim(a.flag("keepdim")?);
            a.tensor("self")?.arg_position(op, &dims)
        }),
    }
}

fn extremum(op: Op, form: Form, args: &mut Bound) -> Result<Value> {
    let keepdim = args.flag("keepdim")?;
    if args.get("dim").is_none() {
        return computed(op, form, args, |a| {
            let options = crate::call::ReduceOptions::default();
            crate::tensor::family::reduce(op, a.tensor("self")?, &(..).into(), options)
        });
    }
    let out = args.out.take();
    let dim = args.dims("dim", false)?.with_keepdim(keepdim);
    let x = args.tensor("self")?;
    match (form, out) {
        (Form::Function | Form::Method, _) => Ok(x.arg_reduce(op, &dim)?.into()),
        (Form::Out, Some(Value::List(mut outs))) => match (outs.pop(), outs.pop(), outs.pop()) {
            (Some(Value::Tensor(mut indices)), Some(Value::Tensor(mut values)), None) => {
                x.arg_reduce_out(op, &dim, &mut values, &mut indices)?;
                Ok((values, indices).into())
            }
            _ => Err(wrong(op.name(), "out", "two tensors", &Value::List(outs))),
        },
        (_, Some(other)) => Err(wrong(op.name(), "out", "two tensors", &other)),
        (_, None) => Err(no_form(op, form)),
    }
}
