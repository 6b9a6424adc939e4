//! Products by name of any number of tensors.

use nomina_core::Result;
use nomina_runtime::call;
use smallvec::SmallVec;

use super::{Erased, ErasedRef, Static, explain};

type Letters = SmallVec<[usize; 8]>;

/// Multiplies the operands and sums over the names that the result lacks. Types have checked all
/// names and exclude `Wild`, so equal names are one letter.
pub(crate) fn einsum(tensors: &[ErasedRef<'_>], out: &'static Static) -> Result<Erased> {
    let mut found: SmallVec<[Option<&'static str>; 16]> = SmallVec::new();
    let mut letter = |name: Option<&'static str>| {
        found
            .iter()
            .position(|other| *other == name)
            .unwrap_or_else(|| {
                found.push(name);
                found.len() - 1
            })
    };
    let operands: SmallVec<[Letters; 4]> = tensors
        .iter()
        .map(|x| x.of.names.iter().map(|name| letter(*name)).collect())
        .collect();
    let output: Letters = out.names.iter().map(|name| letter(*name)).collect();
    let raws: SmallVec<[_; 4]> = tensors.iter().map(|x| x.raw).collect();
    let letters: SmallVec<[&[usize]; 4]> = operands.iter().map(|list| &list[..]).collect();
    let raw = call::einsum(&raws, &letters, &output).map_err(|error| explain(error, tensors))?;
    Ok(Erased::new(raw))
}
