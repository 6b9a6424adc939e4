//! What neural networks put between their layers.

use nomina_core::op::Op;
use nomina_core::{Result, Scalar};

use super::pure;
use crate::tensor::generated::own::Activation;
use crate::tensor::invoke::bind::Bound;
use crate::tensor::invoke::value::Value;
use crate::tensor::invoke::{Form, computed};

/// Calls `own`, which is `op` by another name.
pub(in crate::tensor) fn call(
    own: Activation,
    op: Op,
    form: Form,
    mut args: Bound,
) -> Result<Value> {
    let args = &mut args;
    match own {
        Activation::Threshold => computed(op, form, args, |a| {
            let number = |name| a.scalar(name, Scalar::Int(0));
            a.tensor("self")?
                .threshold(number("threshold")?, number("value")?)
        }),
        Activation::Prelu => pure(op, form, args, |a| {
            a.tensor("self")?.prelu(a.tensor("weight")?)
        }),
        Activation::Glu => computed(op, form, args, |a| a.tensor("self")?.glu(a.dim("dim")?)),
    }
}
