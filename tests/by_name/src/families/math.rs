//! Special functions with irregular arguments.

use nomina_core::Result;
use nomina_core::op::Op;

use crate::bind::Bound;
use crate::generated::Math;
use crate::value::Value;
use crate::{Form, computed};
use nomina_runtime::tensor::{Approximate, GeluOptions};

/// Calls operator `op`, given as `which` of this family.
pub(crate) fn call(which: Math, op: Op, form: Form, mut args: Bound) -> Result<Value> {
    match which {
        Math::Gelu => computed(op, form, &mut args, |a| {
            let approximate = match a.word("approximate", &["none", "tanh"])? {
                Some(1) => Approximate::Tanh,
                _ => Approximate::None,
            };
            a.tensor("self")?.gelu_with(GeluOptions { approximate })
        }),
    }
}
