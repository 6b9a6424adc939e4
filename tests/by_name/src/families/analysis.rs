//! Analysis by name.

use nomina_core::op::Op;
use nomina_core::{Error, ErrorKind, Result};

use super::pure;
use crate::Form;
use crate::bind::Bound;
use crate::generated::Analysis;
use crate::value::{Value, wrong};
use nomina_runtime::tensor::{InterpMethod, InterpOptions, VarOptions};

/// Calls the reduction of parts that the argument `reduce` names.
macro_rules! reduced {
    ($args:expr, $parts:expr) => {
        reduced!($args, $parts, sum mean max min var std nansum nanmean nanmax nanmin nanvar nanstd count)
    };
    ($args:expr, $parts:expr, $($word:ident)*) => {{
        let words = [$(stringify!($word)),*];
        let at = $args.word("reduce", &words)?;
        match at.map(|at| words[at]) {
            $(Some(stringify!($word)) => $parts.$word(),)*
            _ => Err(Error::new(ErrorKind::Argument, $args.op(), "no such reduction")
                .hint(format!("give one of {words:?}"))),
        }
    }};
}

/// Calls operator `op`, given as `which` of this family.
pub(crate) fn call(which: Analysis, op: Op, form: Form, args: Bound) -> Result<Value> {
    pure(op, form, &args, |a| {
        let x = a.tensor("self")?;
        let count = |param| {
            let n = a.int(param)?;
            usize::try_from(n).map_err(|_| wrong(a.op(), param, "a size", &n.into()))
        };
        match which {
            Analysis::WeightedMean | Analysis::WeightedNanmean => {
                let dims = a.dims("dim", true)?.with_keepdim(a.flag("keepdim")?);
                let weights = a.tensor("weights")?;
                match which {
                    Analysis::WeightedMean => x.weighted_mean(weights, dims),
                    _ => x.weighted_nanmean(weights, dims),
                }
            }
            Analysis::Corr | Analysis::Nancorr => {
                let dims = a.dims("dim", true)?.with_keepdim(a.flag("keepdim")?);
                let other = a.tensor("other")?;
                match which {
                    Analysis::Corr => x.corr(other, dims),
                    _ => x.nancorr(other, dims),
                }
            }
            Analysis::Covar | Analysis::Nancovar => {
                let (dims, other) = (a.dims("dim", true)?, a.tensor("other")?);
                let options = VarOptions {
                    correction: a.float("correction")?,
                    keepdim: a.flag("keepdim")?,
                };
                match which {
                    Analysis::Covar => x.covar_with(other, dims, options),
                    _ => x.nancovar_with(other, dims, options),
                }
            }
            Analysis::Interp => {
                let (coords, at) = (a.tensor("coords")?, a.tensor("at")?);
                let method = match a.word("method", &["linear", "nearest"])? {
                    Some(1) => InterpMethod::Nearest,
                    _ => InterpMethod::Linear,
                };
                let options = InterpOptions {
                    method,
                    extrapolate: a.flag("extrapolate")?,
                };
                x.interp_with(a.dim("dim")?, coords, at, options)
            }
            Analysis::GroupBy => {
                let (labels, name) = (a.tensor("labels")?, a.name("outdim")?);
                let groups = x.group_by(a.dim("dim")?, labels, count("groups")?, name)?;
                reduced!(a, groups)
            }
            Analysis::Rolling | Analysis::Resample => {
                let dim = a.dim("dim")?;
                let windows = match which {
                    Analysis::Rolling => x.rolling(dim, count("window")?),
                    _ => x.resample(dim, count("steps")?),
                }?;
                reduced!(a, windows)
            }
        }
    })
}
