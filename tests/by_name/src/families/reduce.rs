//! Reductions with irregular arguments.

use super::pair;
use crate::bind::Bound;
use crate::generated::Reduce;
use crate::value::Value;
use crate::{Form, computed};
use nomina_core::Result;
use nomina_core::op::Op;

/// Calls operator `op`, given as `which` of this family.
pub(crate) fn call(which: Reduce, op: Op, form: Form, mut args: Bound) -> Result<Value> {
    let args = &mut args;
    match which {
        Reduce::Var | Reduce::Std | Reduce::Nanvar | Reduce::Nanstd => {
            computed(op, form, args, |a| {
                let correction = a.float("correction")?;
                let dims = a.dims("dim", true)?.with_keepdim(a.flag("keepdim")?);
                let options = nomina_runtime::call::ReduceOptions {
                    correction,
                    ..Default::default()
                };
                nomina_runtime::tensor::family::reduce(op, a.tensor("self")?, &dims, options)
            })
        }
        Reduce::Max | Reduce::Min => extremum(op, form, args),
        Reduce::Argmax | Reduce::Argmin => computed(op, form, args, |a| {
            let dims = a.dims("dim", true)?.with_keepdim(a.flag("keepdim")?);
            let x = a.tensor("self")?;
            match which {
                Reduce::Argmax => x.argmax(dims),
                _ => x.argmin(dims),
            }
        }),
    }
}

fn extremum(op: Op, form: Form, args: &mut Bound) -> Result<Value> {
    let keepdim = args.flag("keepdim")?;
    if args.get("dim").is_none() {
        return computed(op, form, args, |a| {
            let options = nomina_runtime::call::ReduceOptions::default();
            nomina_runtime::tensor::family::reduce(op, a.tensor("self")?, &(..).into(), options)
        });
    }
    pair(op, form, args, |a| {
        let dim = a.dims("dim", false)?.with_keepdim(keepdim);
        let x = a.tensor("self")?;
        match op {
            Op::Max => x.max(dim),
            _ => x.min(dim),
        }
    })
}
