//! Views.

use nomina_core::Result;
use nomina_core::op::Op;

use super::{pure, value};
use crate::tensor::factory::sizes;
use crate::tensor::generated::own::View;
use crate::tensor::invoke::Form;
use crate::tensor::invoke::bind::Bound;
use crate::tensor::invoke::read::{flatten, unflatten};
use crate::tensor::invoke::value::Value;
use crate::tensor::{Order, SplitSizes};

/// Calls `own`, which is `op` by another name.
pub(in crate::tensor) fn call(own: View, op: Op, form: Form, mut args: Bound) -> Result<Value> {
    let args = &mut args;
    match own {
        View::Transpose => pure(op, form, args, |a| {
            a.tensor("self")?.transpose(a.dim("dim0")?, a.dim("dim1")?)
        }),
        View::T => pure(op, form, args, |a| a.tensor("self")?.t()),
        View::Permute => pure(op, form, args, |a| {
            a.tensor("self")?.permute(a.dims("dims", false)?)
        }),
        View::AlignTo => pure(op, form, args, |a| {
            a.tensor("self")?.align_to(Order::new(a.order("names")?))
        }),
        View::AlignAs => pure(op, form, args, |a| {
            a.tensor("self")?.align_as(a.tensor("other")?)
        }),
        View::Flatten => pure(op, form, args, flatten),
        View::Unflatten => pure(op, form, args, unflatten),
        View::Squeeze => pure(op, form, args, |a| {
            a.tensor("self")?.squeeze(a.dims("dim", false)?)
        }),
        View::Unsqueeze => pure(op, form, args, |a| {
            a.tensor("self")?.unsqueeze(a.int("dim", 0)?, None)
        }),
        View::Expand => pure(op, form, args, |a| {
            a.tensor("self")?.expand(&a.sizes("size")?)
        }),
        View::Select => pure(op, form, args, |a| {
            a.tensor("self")?.select(a.dim("dim")?, a.int("index", 0)?)
        }),
        View::Narrow => pure(op, form, args, |a| {
            let length = sizes(op.name(), &[a.int("length", 0)?])?[0];
            a.tensor("self")?
                .narrow(a.dim("dim")?, a.int("start", 0)?, length)
        }),
        View::Unbind => value(op, form, args, |a| {
            Ok(a.tensor("self")?.unbind(a.dim("dim")?)?.into())
        }),
        View::Split => value(op, form, args, |a| {
            let given = a.sizes("split_size")?;
            let each = matches!(a.get("split_size"), Some(Value::Int(_)));
            let sizes = if each {
                SplitSizes::Each(given[0])
            } else {
                given.into()
            };
            Ok(a.tensor("self")?.split(sizes, a.dim("dim")?)?.into())
        }),
    }
}
