//! Operators on names.

use nomina_core::Result;
use nomina_core::op::Op;

use super::{in_place, pure};
use crate::Form;
use crate::bind::Bound;
use crate::generated::Names;
use crate::read::rename;
use crate::value::Value;
use nomina_runtime::tensor::Order;

/// Calls operator `op`, given as `which` of this family.
pub(crate) fn call(which: Names, op: Op, form: Form, mut args: Bound) -> Result<Value> {
    let args = &mut args;
    match which {
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
