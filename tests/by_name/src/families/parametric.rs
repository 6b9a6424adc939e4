//! Elementwise operators with parameters.

use nomina_core::Result;
use nomina_core::op::Op;

use super::{pure, value};
use crate::bind::Bound;
use crate::generated::Parametric;
use crate::value::Value;
use crate::{Form, computed};
use nomina_runtime::tensor::{AddcdivOptions, CloseOptions, LogitOptions, NanToNumOptions};

/// Calls operator `op`, given as `which` of this family.
pub(crate) fn call(which: Parametric, op: Op, form: Form, mut args: Bound) -> Result<Value> {
    let args = &mut args;
    match which {
        Parametric::Positive => pure(op, form, args, |a| a.tensor("self")?.positive()),
        Parametric::Logit => computed(op, form, args, |a| {
            let eps = number(a, "eps")?;
            a.tensor("self")?.logit_with(LogitOptions { eps })
        }),
        Parametric::NanToNum => computed(op, form, args, |a| {
            a.tensor("self")?.nan_to_num_with(NanToNumOptions {
                nan: number(a, "nan")?.unwrap_or(0.0),
                posinf: number(a, "posinf")?,
                neginf: number(a, "neginf")?,
            })
        }),
        Parametric::Isclose => pure(op, form, args, |a| {
            a.tensor("self")?
                .isclose_with(a.tensor("other")?, close(a)?)
        }),
        Parametric::Allclose => value(op, form, args, |a| {
            let close = a
                .tensor("self")?
                .allclose_with(a.tensor("other")?, close(a)?);
            Ok(Value::Bool(close?))
        }),
        Parametric::Addcdiv => computed(op, form, args, |a| {
            let value = a.scalar("value")?;
            a.tensor("self")?.addcdiv_with(
                a.tensor("tensor1")?,
                a.operand("tensor2")?,
                AddcdivOptions { value },
            )
        }),
        Parametric::Polygamma => {
            computed(op, form, args, |a| a.tensor("self")?.polygamma(a.int("n")?))
        }
        Parametric::Mvlgamma => {
            computed(op, form, args, |a| a.tensor("self")?.mvlgamma(a.int("p")?))
        }
        Parametric::Lerp => computed(op, form, args, |a| {
            a.tensor("self")?
                .lerp(a.tensor("end")?, a.operand("weight")?)
        }),
    }
}

/// Returns an optional number.
pub(super) fn number(args: &Bound, param: &str) -> Result<Option<f64>> {
    args.given(param).map(|_| args.float(param)).transpose()
}

fn close(args: &Bound) -> Result<CloseOptions> {
    let plain = CloseOptions::default();
    Ok(CloseOptions {
        rtol: number(args, "rtol")?.unwrap_or(plain.rtol),
        atol: number(args, "atol")?.unwrap_or(plain.atol),
        equal_nan: args.flag("equal_nan")?,
    })
}
