//! Operators with a mask.

use nomina_core::op::Op;
use nomina_core::{Result, rule};
use nomina_runtime::call::{self, Arg};

use super::pointwise::{blame, wild_among};
use super::{Dest, Erased, ErasedRef, OperandRef, Static, explain, typed, wilds};

/// Writes `value` where the mask is true.
pub(crate) fn fill(
    x: ErasedRef<'_>,
    mask: ErasedRef<'_>,
    value: OperandRef<'_>,
    out: &'static Static,
) -> Result<Erased> {
    let sides = [OperandRef::Tensor(x), OperandRef::Tensor(mask)];
    let mut wild = None;
    if wild_among(&sides) {
        let names = rule::masked_fill("masked_fill", &x.names(), &mask.names());
        wild = wilds(names.map_err(|error| blame(error, &sides))?, out);
    }
    let args = [Arg::Tensor(x.raw), Arg::Tensor(mask.raw), value.arg()];
    let raw = typed(|| call::pointwise(Op::MaskedFill, &args));
    Ok(Erased {
        raw: raw.map_err(|error| blame(error, &sides))?,
        wild,
    })
}

/// Like [`fill`], but in place.
pub(crate) fn fill_in_place(
    dest: Result<Dest<'_>>,
    mask: ErasedRef<'_>,
    value: OperandRef<'_>,
) -> Result<()> {
    let dest = dest?;
    let mut now = None;
    if dest.of.wild || mask.of.wild {
        let names = rule::masked_fill_in_place("masked_fill", &dest.names(), &mask.names());
        now = wilds(names.map_err(|error| dest.blame(error, &[mask]))?, dest.of);
    }
    let args = [Arg::Tensor(mask.raw), value.arg()];
    dest.write([mask], now, |raw| {
        typed(|| call::pointwise_in_place(Op::MaskedFill, raw, &args))
    })
}

/// Returns the elements where the mask is true.
pub(crate) fn select(x: ErasedRef<'_>, mask: ErasedRef<'_>) -> Result<Erased> {
    let at = |error| explain(error, &[x, mask]);
    if x.of.wild || mask.of.wild {
        rule::masked_select("masked_select", &x.names(), &mask.names()).map_err(at)?;
    }
    Ok(Erased::new(
        call::masked_select(x.raw, mask.raw).map_err(at)?,
    ))
}
