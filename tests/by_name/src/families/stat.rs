//! Statistics.

use nomina_core::Result;
use nomina_core::op::Op;

use super::{pair, pure, value};
use crate::bind::Bound;
use crate::generated::Stat;
use crate::value::Value;
use crate::{Form, computed};
use nomina_runtime::tensor::{
    CovOptions, DiffOptions, DynTensor, NormOptions, TrapezoidOptions, VarOptions,
};

/// Calls operator `op`, given as `which` of this family.
pub(crate) fn call(which: Stat, op: Op, form: Form, mut args: Bound) -> Result<Value> {
    let args = &mut args;
    match which {
        Stat::StdMean | Stat::VarMean => value(op, form, args, |a| {
            let options = VarOptions {
                correction: a.float("correction")?,
                keepdim: a.flag("keepdim")?,
            };
            let dims = a.dims("dim", true)?;
            let x = a.tensor("self")?;
            let both = match which {
                Stat::StdMean => x.std_mean_with(dims, options),
                _ => x.var_mean_with(dims, options),
            };
            Ok(both?.into())
        }),
        Stat::Aminmax => pair(op, form, args, |a| {
            let dims = a.dims("dim", true)?.with_keepdim(a.flag("keepdim")?);
            a.tensor("self")?.aminmax(dims)
        }),
        Stat::Norm => computed(op, form, args, |a| {
            let dims = a.dims("dim", true)?;
            a.tensor("self")?.norm_with(dims, norm(a)?)
        }),
        Stat::Dist => pure(op, form, args, |a| {
            a.tensor("self")?.dist_with(a.tensor("other")?, norm(a)?)
        }),
        Stat::Diff => computed(op, form, args, |a| {
            let (x, n) = (extended(a)?, a.int("n")?);
            x.diff_with(a.dim("dim")?, DiffOptions { n })
        }),
        Stat::Trapezoid | Stat::CumulativeTrapezoid => pure(op, form, args, |a| {
            let dx = a.float("dx")?;
            let options = TrapezoidOptions { dx };
            let (y, dim) = (a.tensor("self")?, a.dim("dim")?);
            match (which, optional(a, "x")?) {
                (Stat::Trapezoid, None) => y.trapezoid_with(dim, options),
                (Stat::Trapezoid, Some(x)) => y.trapezoid_at(x, dim),
                (_, None) => y.cumulative_trapezoid_with(dim, options),
                (_, Some(x)) => y.cumulative_trapezoid_at(x, dim),
            }
        }),
        Stat::Cov => pure(op, form, args, |a| {
            a.tensor("self")?.cov_with(CovOptions {
                correction: a.int("correction")? as f64,
                fweights: optional(a, "fweights")?,
                aweights: optional(a, "aweights")?,
            })
        }),
        Stat::Corrcoef => pure(op, form, args, |a| a.tensor("self")?.corrcoef()),
        Stat::Renorm => computed(op, form, args, |a| {
            let number = |param| a.float(param);
            a.tensor("self")?
                .renorm(number("p")?, a.dim("dim")?, number("maxnorm")?)
        }),
    }
}

fn optional<'a>(args: &'a Bound, param: &str) -> Result<Option<&'a DynTensor>> {
    args.given(param).map(|_| args.tensor(param)).transpose()
}

/// Returns `self` with the tensors of `prepend` and `append` joined to it.
fn extended(args: &Bound) -> Result<DynTensor> {
    let x = args.tensor("self")?;
    let (before, after) = (optional(args, "prepend")?, optional(args, "append")?);
    if before.is_none() && after.is_none() {
        return Ok(x.clone());
    }
    let all: Vec<&DynTensor> = before.into_iter().chain([x]).chain(after).collect();
    DynTensor::cat(&all, args.dim("dim")?).map_err(|error| error.in_op("diff"))
}

/// Returns the options of a norm; PyTorch also accepts "fro" for the Euclidean norm, and infinities
/// as strings.
fn norm(args: &Bound) -> Result<NormOptions> {
    let p = match args.given("p") {
        Some(Value::Str(text)) if text == "fro" => 2.0,
        Some(Value::Str(text)) if text == "inf" => f64::INFINITY,
        Some(Value::Str(text)) if text == "-inf" => f64::NEG_INFINITY,
        _ => args.float("p")?,
    };
    Ok(NormOptions {
        p,
        keepdim: args.flag("keepdim")?,
        dtype: args.dtype()?,
    })
}
