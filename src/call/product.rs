//! Matrix products and contractions.

use nomina_core::op::Op;
use nomina_core::{Names, Result, Scalar, rule};
use nomina_runtime::Raw;
use nomina_runtime::call;

use super::{Bare, Look, Static, Wilds, explain, wilds};

/// mm, mv, dot, bmm or matmul.
pub(crate) fn new(op: Op, a: Look<'_>, b: Look<'_>, out: &'static Static) -> Result<Bare> {
    type Rule = fn(&'static str, &Names, &Names) -> Result<Names>;
    type Kernel = fn(&Raw, &Raw) -> Result<Raw>;
    let (rule, kernel): (Rule, Kernel) = match op {
        Op::Mm => (rule::mm, call::mm),
        Op::Mv => (rule::mv, call::mv),
        Op::Dot => (rule::dot, call::dot),
        Op::Bmm => (rule::bmm, call::bmm),
        _ => (rule::matmul, call::matmul),
    };
    let at = |error| explain(error, &[a, b]);
    let mut wild = None;
    if a.of.wild || b.of.wild {
        wild = wilds(rule(op.name(), &a.names(), &b.names()).map_err(at)?, out);
    }
    let raw = kernel(a.raw, b.raw).map_err(at)?;
    Ok(Bare { raw, wild })
}

/// `beta` times the bias, plus `alpha` times the product.
pub(crate) fn addmm(
    bias: Look<'_>,
    a: Look<'_>,
    b: Look<'_>,
    scale: [Scalar; 2],
    out: &'static Static,
) -> Result<Bare> {
    let at = |error| explain(error, &[bias, a, b]);
    let mut wild: Wilds = None;
    if bias.of.wild || a.of.wild || b.of.wild {
        let names = rule::addmm("addmm", &bias.names(), &a.names(), &b.names()).map_err(at)?;
        wild = wilds(names, out);
    }
    let [beta, alpha] = scale;
    let raw = call::add_product(Op::Addmm, bias.raw, a.raw, b.raw, beta, alpha).map_err(at)?;
    Ok(Bare { raw, wild })
}

/// Multiplies and sums over dims that both have; other dims that both have are batch.
///
/// Types have checked everything and let no `Wild` in: what is left are positions.
pub(crate) fn contract(a: Look<'_>, b: Look<'_>, pairs: &[(usize, usize)]) -> Result<Bare> {
    let place = |name| b.of.names.iter().position(|other| *other == name);
    let both =
        a.of.names
            .iter()
            .enumerate()
            .filter_map(|(i, name)| Some((i, place(*name)?)));
    let batch: Pairs = both.filter(|pair| !pairs.contains(pair)).collect();
    let raw = call::contract(Op::Contract, a.raw, b.raw, pairs, &batch);
    Ok(Bare::new(raw.map_err(|error| explain(error, &[a, b]))?))
}

type Pairs = smallvec::SmallVec<[(usize, usize); 8]>;
