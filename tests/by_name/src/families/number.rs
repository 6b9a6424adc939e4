//! Rounding with irregular arguments.

use nomina_core::Result;
use nomina_core::op::Op;

use crate::bind::Bound;
use crate::generated::Number;
use crate::value::Value;
use crate::{Form, computed};
use nomina_runtime::tensor::RoundOptions;

/// Calls operator `op`, given as `which` of this family.
pub(crate) fn call(which: Number, op: Op, form: Form, mut args: Bound) -> Result<Value> {
    match which {
        Number::Round => computed(op, form, &mut args, |a| {
            let decimals = a.int("decimals")?;
            a.tensor("self")?.round_with(RoundOptions { decimals })
        }),
    }
}
