//! Operators on names.

use nomina_core::Result;
use nomina_core::op::Op;

use super::{in_place, pure};
use crate::tensor::Order;
use crate::tensor::generated::own::Names;
use crate::tensor::invoke::Form;
use crate::tensor::invoke::bind::Bound;
use crate::tensor::invoke::read::rename;
use crate::tensor::invoke::value::Value;

/// Calls `own`, which is `op` by another name.
pub(in crate::tensor) fn call(own: Names, op: Op, form: Form, mut args: Bound) -> Result<Value> {
    let args = &mut args;
    match own {
        Names::Rename if form == Form::InPlace => {
            in_place(args, |own, a| own.rename_(rename(a)?).map(drop))
        }
        Names::Rename => pure(op, form, args, |a| a.tensor("self")?.rename(rename(a)?)),
        Names::RefineNames => pure(op, form, args, |a| {
            a.tensor("self")?
                .refine_names(Order::new(a.order("names")?))
        }),
    }
}
