//! Joined tensors: cat and stack.

use nomina_core::rule::{self, DimRef};
use nomina_core::{Error, ErrorKind, Names, Result};
use nomina_runtime::Raw;
use nomina_runtime::call;

use super::{Erased, ErasedRef, Static, Wilds, explain, wilds};

#[cold]
fn nothing(op: &'static str) -> Error {
    Error::new(ErrorKind::Argument, op, "no tensor to join").hint("give at least one")
}

/// Joins tensors along a dim that every one has.
pub(crate) fn cat(looks: &[ErasedRef<'_>], dim: usize, out: &'static Static) -> Result<Erased> {
    let [first, ..] = looks else {
        return Err(nothing("cat"));
    };
    let mut wild: Wilds = None;
    if looks.iter().any(|look| look.of.wild) {
        let names: Vec<Names> = looks.iter().map(|look| look.names()).collect();
        let operands: Vec<(&Names, &[usize])> = names
            .iter()
            .zip(looks.iter().map(|look| look.raw.shape()))
            .collect();
        let name = first.of.names[dim].map_or(DimRef::Index(dim as i64), DimRef::Name);
        let found = rule::cat("cat", &operands, name).map_err(|error| explain(error, looks))?;
        wild = wilds(found.names, out);
    }
    let raws: Vec<&Raw> = looks.iter().map(|look| look.raw).collect();
    Ok(Erased {
        raw: call::cat(&raws, dim).map_err(|error| explain(error, looks))?,
        wild,
    })
}

/// Joins tensors along a new first dim.
pub(crate) fn stack(looks: &[ErasedRef<'_>], out: &'static Static) -> Result<Erased> {
    if looks.is_empty() {
        return Err(nothing("stack"));
    }
    let at = |error: Error| explain(error.in_op("stack"), looks);
    let mut wild: Wilds = None;
    if looks.iter().any(|look| look.of.wild) {
        let names: Vec<Names> = looks.iter().map(|look| look.names()).collect();
        let operands: Vec<(&Names, &[usize])> = names
            .iter()
            .zip(looks.iter().map(|look| look.raw.shape()))
            .collect();
        let new = out.names.first().copied().flatten();
        wild = wilds(
            rule::stack("stack", &operands, 0, new).map_err(at)?.names,
            out,
        );
    }
    let raws: Vec<&Raw> = looks.iter().map(|look| look.raw).collect();
    Ok(Erased {
        raw: call::stack(&raws, 0).map_err(at)?,
        wild,
    })
}
