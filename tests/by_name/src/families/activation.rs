//! Activation functions.

use nomina_core::Result;
use nomina_core::op::Op;

use super::parametric::number;
use super::pure;
use crate::bind::Bound;
use crate::generated::Activation;
use crate::value::Value;
use crate::{Form, computed};
use nomina_runtime::tensor::{AlphaDropoutOptions, DropoutOptions, RreluOptions};

/// Calls operator `op`, given as `which` of this family.
pub(crate) fn call(which: Activation, op: Op, form: Form, mut args: Bound) -> Result<Value> {
    let args = &mut args;
    match which {
        Activation::Threshold => computed(op, form, args, |a| {
            let number = |name| a.scalar(name);
            a.tensor("self")?
                .threshold(number("threshold")?, number("value")?)
        }),
        Activation::Prelu => pure(op, form, args, |a| {
            a.tensor("self")?.prelu(a.tensor("weight")?)
        }),
        Activation::Rrelu => computed(op, form, args, |a| {
            let plain = RreluOptions::default();
            a.tensor("self")?.rrelu_with(RreluOptions {
                lower: number(a, "lower")?.unwrap_or(plain.lower),
                upper: number(a, "upper")?.unwrap_or(plain.upper),
                training: a.flag("training")?,
            })
        }),
        Activation::Dropout => computed(op, form, args, |a| {
            a.tensor("self")?.dropout_with(DropoutOptions {
                p: number(a, "p")?.unwrap_or(0.5),
                training: a.flag("training")?,
            })
        }),
        Activation::AlphaDropout => computed(op, form, args, |a| {
            a.tensor("self")?.alpha_dropout_with(AlphaDropoutOptions {
                p: number(a, "p")?.unwrap_or(0.5),
                training: a.flag("training")?,
            })
        }),
        Activation::Glu => computed(op, form, args, |a| a.tensor("self")?.glu(a.dim("dim")?)),
    }
}
