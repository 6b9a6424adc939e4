//! Joined tensors: cat and stack.

use nomina_core::rule::{self, DimRef};
use nomina_core::{Error, ErrorKind, Result};
use nomina_runtime::call;
use nomina_runtime::memory::try_list;

use super::{Erased, ErasedRef, Static, Wilds, explain, wilds};

#[cold]
fn nothing(op: &'static str) -> Error {
    Error::new(ErrorKind::Argument, op, "no tensor to join").hint("give at least one")
}

/// Joins tensors along a dim that every one has.
pub(crate) fn cat(tensors: &[ErasedRef<'_>], dim: usize, out: &'static Static) -> Result<Erased> {
    let [first, ..] = tensors else {
        return Err(nothing("cat"));
    };
    let mut wild: Wilds = None;
    if tensors.iter().any(|x| x.of.wild) {
        let names = try_list("cat", tensors.iter().map(|x| Ok(x.names())))?;
        let operands = names
            .iter()
            .zip(tensors)
            .map(|(names, x)| Ok((names, x.raw.shape())));
        let operands = try_list("cat", operands)?;
        let name = first.of.names[dim].map_or(DimRef::Index(dim as i64), DimRef::Name);
        let found = rule::cat("cat", &operands, name).map_err(|error| explain(error, tensors))?;
        wild = wilds(found.names, out);
    }
    let raws = try_list("cat", tensors.iter().map(|x| Ok(x.raw)))?;
    Ok(Erased {
        raw: call::cat(&raws, dim).map_err(|error| explain(error, tensors))?,
        wild,
    })
}

/// Joins tensors along a new first dim.
pub(crate) fn stack(tensors: &[ErasedRef<'_>], out: &'static Static) -> Result<Erased> {
    if tensors.is_empty() {
        return Err(nothing("stack"));
    }
    let at = |error: Error| explain(error.in_op("stack"), tensors);
    let mut wild: Wilds = None;
    if tensors.iter().any(|x| x.of.wild) {
        let names = try_list("stack", tensors.iter().map(|x| Ok(x.names())))?;
        let operands = names
            .iter()
            .zip(tensors)
            .map(|(names, x)| Ok((names, x.raw.shape())));
        let operands = try_list("stack", operands)?;
        let new = out.names.first().copied().flatten();
        wild = wilds(
            rule::stack("stack", &operands, 0, new).map_err(at)?.names,
            out,
        );
    }
    let raws = try_list("stack", tensors.iter().map(|x| Ok(x.raw)))?;
    Ok(Erased {
        raw: call::stack(&raws, 0).map_err(at)?,
        wild,
    })
}
