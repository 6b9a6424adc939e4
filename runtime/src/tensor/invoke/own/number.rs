//! Rounding with arguments of its own.

use nomina_core::Result;
use nomina_core::op::Op;

use crate::tensor::RoundOptions;
use crate::tensor::generated::own::Number;
use crate::tensor::invoke::bind::Bound;
use crate::tensor::invoke::value::Value;
use crate::tensor::invoke::{Form, computed};

/// Calls `own`, which is `op` by another name.
pub(in crate::tensor) fn call(own: Number, op: Op, form: Form, mut args: Bound) -> Result<Value> {
    match own {
        Number::Round => computed(op, form, &mut args, |a| {
            let decimals = a.int("decimals", 0)?;
            a.tensor("self")?.round_with(RoundOptions { decimals })
        }),
    }
}
