//! Rounding with arguments of its own.

use nomina_core::Result;
use nomina_core::op::Op;

use crate::bind::Bound;
use crate::generated::Number;
use crate::value::Value;
use crate::{Form, computed};
use nomina_runtime::tensor::RoundOptions;

/// Calls `op`, which is `which`.
pub(crate) fn call(which: Number, op: Op, form: Form, mut args: Bound) -> Result<Value> {
    match which {
        Number::Round => computed(op, form, &mut args, |a| {
            let decimals = a.int("decimals")?;
            a.tensor("self")?.round_with(RoundOptions { decimals })
        }),
    }
}
