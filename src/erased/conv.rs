//! Convolution, pooling and padding.

use nomina_core::op::Op;
use nomina_core::rule::{self, FilterForm, Positions, Sites};
use nomina_core::{Names, Result};
use nomina_runtime::Raw;
use nomina_runtime::call::{self, ConvArgs, ConvSites, TransposedArgs};

use super::{Erased, ErasedRef, Static, Wilds, explain, wilds};

/// Positions of the dims of a convolution, as types found them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    /// The channel dim of the input.
    pub(crate) channel: usize,
    /// The spatial dims.
    pub(crate) spatial: &'static [usize],
    /// The dim of the weight with the name of the channels.
    pub(crate) weight_channel: usize,
}

/// Computes a convolution, or its transpose, of operands whose names types have checked.
fn filtered(
    op: Op,
    x: ErasedRef<'_>,
    weight: ErasedRef<'_>,
    found: Found,
    out: &'static Static,
    compute: impl FnOnce(&ConvSites<'_>) -> Result<Raw>,
) -> Result<Erased> {
    let at = |error| explain(error, &[x, weight]);
    let mut others = (0..weight.raw.rank()).filter(|&dim| dim != found.weight_channel);
    let first = others.next().unwrap_or(0);
    let kernel: Positions = others.collect();
    let mut wild: Wilds = None;
    if x.of.wild {
        // The rules check the names that only the run time knows.
        let sites = Sites {
            channel: found.channel,
            spatial: found.spatial.iter().copied().collect(),
        };
        let form = FilterForm {
            by_name: true,
            transposed: false,
        };
        let (own, names): (Names, Names) = (x.names(), weight.names());
        let filter = rule::filter(op.name(), &own, &sites, &names, form).map_err(at)?;
        wild = wilds(filter.names, out);
    }
    let raw = compute(&ConvSites {
        channel: found.channel,
        spatial: found.spatial,
        out: first,
        weight_channel: found.weight_channel,
        kernel: &kernel,
    });
    Ok(Erased {
        raw: raw.map_err(at)?,
        wild,
    })
}

/// Computes a convolution.
pub(crate) fn conv(
    op: Op,
    [x, weight]: [ErasedRef<'_>; 2],
    bias: Option<ErasedRef<'_>>,
    found: Found,
    args: &ConvArgs<'_>,
    out: &'static Static,
) -> Result<Erased> {
    let bias = bias.map(|bias| bias.raw);
    filtered(op, x, weight, found, out, |at| {
        call::conv(op, x.raw, weight.raw, bias, at, args)
    })
}

/// Computes the transpose of a convolution.
pub(crate) fn transposed(
    op: Op,
    [x, weight]: [ErasedRef<'_>; 2],
    bias: Option<ErasedRef<'_>>,
    found: Found,
    args: &TransposedArgs<'_>,
    out: &'static Static,
) -> Result<Erased> {
    let bias = bias.map(|bias| bias.raw);
    filtered(op, x, weight, found, out, |at| {
        call::conv_transpose(op, x.raw, weight.raw, bias, at, args)
    })
}
