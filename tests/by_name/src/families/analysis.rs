//! Analysis by name.

use nomina_core::op::Op;
use nomina_core::{Error, ErrorKind, Result};

use super::pure;
use crate::Form;
use crate::bind::Bound;
use crate::generated::Analysis;
use crate::value::{Value, wrong};

/// Calls operator `op`, given as `which` of this family.
pub(crate) fn call(which: Analysis, op: Op, form: Form, args: Bound) -> Result<Value> {
    pure(op, form, &args, |a| {
        let x = a.tensor("self")?;
        let count = |param| {
            let n = a.int(param)?;
            usize::try_from(n).map_err(|_| wrong(a.op(), param, "a size", &n.into()))
        };
        let words = ["sum", "mean", "max", "min", "std", "count"];
        let no = || {
            Error::new(ErrorKind::Argument, op.name(), "no such reduction")
                .hint("give sum, mean, max or min")
        };
        match which {
            Analysis::WeightedMean => {
                let dims = a.dims("dim", true)?.with_keepdim(a.flag("keepdim")?);
                x.weighted_mean(a.tensor("weights")?, dims)
            }
            Analysis::GroupBy => {
                let (labels, name) = (a.tensor("labels")?, a.name("outdim")?);
                let groups = x.group_by(a.dim("dim")?, labels, count("groups")?, name)?;
                match a.word("reduce", &words)? {
                    Some(0) => groups.sum(),
                    Some(1) => groups.mean(),
                    Some(2) => groups.max(),
                    Some(3) => groups.min(),
                    Some(5) => groups.count(),
                    _ => Err(no()),
                }
            }
            Analysis::Rolling | Analysis::Resample => {
                let dim = a.dim("dim")?;
                let windows = match which {
                    Analysis::Rolling => x.rolling(dim, count("window")?),
                    _ => x.resample(dim, count("steps")?),
                }?;
                match a.word("reduce", &words)? {
                    Some(0) => windows.sum(),
                    Some(1) => windows.mean(),
                    Some(2) => windows.max(),
                    Some(3) => windows.min(),
                    Some(4) => windows.std(),
                    _ => Err(no()),
                }
            }
        }
    })
}
