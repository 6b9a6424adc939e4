//! Functions of analysis with arguments of their own.

use nomina_core::Result;
use nomina_core::op::Op;

use crate::tensor::generated::own::Math;
use crate::tensor::invoke::bind::Bound;
use crate::tensor::invoke::value::Value;
use crate::tensor::invoke::{Form, computed};
use crate::tensor::{Approximate, GeluOptions};

/// Calls `own`, which is `op` by another name.
pub(in crate::tensor) fn call(own: Math, op: Op, form: Form, mut args: Bound) -> Result<Value> {
    match own {
        Math::Gelu => computed(op, form, &mut args, |a| {
            let approximate = match a.word("approximate", &["none", "tanh"])? {
                Some(1) => Approximate::Tanh,
                _ => Approximate::None,
            };
            a.tensor("self")?.gelu_with(GeluOptions { approximate })
        }),
    }
}
