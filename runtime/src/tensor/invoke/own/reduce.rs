//! Reductions with arguments of their own.

use super::pair;
use crate::tensor::generated::own::Reduce;
use crate::tensor::invoke::bind::Bound;
use crate::tensor::invoke::value::Value;
use crate::tensor::invoke::{Form, computed};
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
    pair(op, form, args, |a| {
        let dim = a.dims("dim", false)?.with_keepdim(keepdim);
        a.tensor("self")?.arg_reduce(op, &dim)
    })
}
