//! Matrix products and contractions.

use nomina_core::op::Op;
use nomina_core::{Names, Result, rule};
use nomina_runtime::Raw;
use nomina_runtime::call;
use nomina_runtime::tensor::{AddmmOptions, LinearOptions};

use super::compose::call_for_tensor;
use super::{Erased, ErasedRef, Static, explain, wilds};

/// Computes a product of two tensors: mm, mv, dot, bmm, outer, inner, vdot, kron or matmul.
pub(crate) fn new(
    op: Op,
    a: ErasedRef<'_>,
    b: ErasedRef<'_>,
    out: &'static Static,
) -> Result<Erased> {
    type Rule = fn(&'static str, &Names, &Names) -> Result<Names>;
    type Kernel = fn(&Raw, &Raw) -> Result<Raw>;
    let (rule, kernel): (Rule, Kernel) = match op {
        Op::Mm => (rule::mm, call::mm),
        Op::Mv => (rule::mv, call::mv),
        Op::Dot => (rule::dot, call::dot),
        Op::Bmm => (rule::bmm, call::bmm),
        Op::Outer => (rule::outer, call::outer),
        Op::Inner => (rule::inner, call::inner),
        Op::Vdot => (rule::dot, call::vdot),
        Op::Kron => (rule::kron, call::kron),
        _ => (rule::matmul, call::matmul),
    };
    let at = |error| explain(error, &[a, b]);
    let mut wild = None;
    if a.of.wild || b.of.wild {
        wild = wilds(rule(op.name(), &a.names(), &b.names()).map_err(at)?, out);
    }
    let raw = kernel(a.raw, b.raw).map_err(at)?;
    Ok(Erased { raw, wild })
}

/// Computes `beta` times the bias plus `alpha` times a product: addmm, addmv, baddbmm, addbmm or
/// addr.
pub(crate) fn added(
    op: Op,
    operands: [ErasedRef<'_>; 3],
    options: AddmmOptions,
    out: &'static Static,
) -> Result<Erased> {
    call_for_tensor(&operands, out, |given| match given {
        [bias, a, b] => match op {
            Op::Addmm => bias.addmm_with(a, b, options),
            Op::Addmv => bias.addmv_with(a, b, options),
            Op::Baddbmm => bias.baddbmm_with(a, b, options),
            Op::Addbmm => bias.addbmm_with(a, b, options),
            _ => bias.addr_with(a, b, options),
        },
        _ => unreachable!("three operands"),
    })
}

/// Multiplies and sums over common dims at the given positions; other common dims are batch dims.
///
/// Types have checked everything and exclude `Wild`, so positions suffice.
pub(crate) fn contract(
    a: ErasedRef<'_>,
    b: ErasedRef<'_>,
    [own, its]: [&[usize]; 2],
) -> Result<Erased> {
    let pairs: Pairs = own.iter().copied().zip(its.iter().copied()).collect();
    let batch: Pairs = shared(a, b).filter(|pair| !pairs.contains(pair)).collect();
    let raw = call::contract(Op::Contract, a.raw, b.raw, &pairs, &batch);
    Ok(Erased::new(raw.map_err(|error| explain(error, &[a, b]))?))
}

/// Returns the positions of each common dim.
pub(crate) fn shared(a: ErasedRef<'_>, b: ErasedRef<'_>) -> impl Iterator<Item = (usize, usize)> {
    let place = move |name| b.of.names.iter().position(|other| *other == name);
    let own = a.of.names.iter().enumerate();
    own.filter_map(move |(i, name)| Some((i, place(*name)?)))
}

/// Multiplies and sums over common dims at the given positions.
pub(crate) fn tensordot(
    a: ErasedRef<'_>,
    b: ErasedRef<'_>,
    [own, its]: [&[usize]; 2],
) -> Result<Erased> {
    let pairs: Pairs = own.iter().copied().zip(its.iter().copied()).collect();
    let raw = call::tensordot(a.raw, b.raw, &pairs);
    Ok(Erased::new(raw.map_err(|error| explain(error, &[a, b]))?))
}

/// Sums over dim `input` of `x` and the last dim of the weight, adds the bias, and applies the
/// options.
pub(crate) fn linear(
    operands: [ErasedRef<'_>; 3],
    input: usize,
    options: LinearOptions,
    out: &'static Static,
) -> Result<Erased> {
    let [x, weight, bias] = operands;
    let at = |error| explain(error, &operands);
    let mut wild = None;
    if operands.iter().any(|x| x.of.wild) {
        let (own, its) = (x.names(), weight.names());
        let plan = rule::linear("linear", &own, &its, Some(&bias.names())).map_err(at)?;
        wild = wilds(plan.names, out);
    }
    let activation = options.activation;
    let raw = call::linear(x.raw, weight.raw, Some(bias.raw), input, activation).map_err(at)?;
    Ok(Erased { raw, wild })
}

pub(crate) type Pairs = smallvec::SmallVec<[(usize, usize); 8]>;
