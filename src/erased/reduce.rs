//! Reductions, scans and softmax.

use nomina_core::op::Op;
use nomina_core::rule::DimArg;
use nomina_core::{DType, Names, Result, rule};
use nomina_runtime::call::{self, ReduceOptions};

use super::{Erased, ErasedRef, Static, Wilds, explain, names, typed, wilds};

/// The dims of an argument, as types found them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Picked {
    /// The positions of the dims.
    pub(crate) at: &'static [usize],
    /// Whether the argument is `..`, all dims.
    pub(crate) all: bool,
    /// Whether the dims are kept with size 1.
    pub(crate) keepdim: bool,
}

impl Picked {
    /// Returns the dims as an argument of a dynamic tensor.
    pub(crate) fn arg(self) -> DimArg<'static> {
        let dims = match self.at {
            _ if self.all => DimArg::all(),
            &[one] => DimArg::from_dim(one),
            many => DimArg::list(many.iter().copied()),
        };
        dims.with_keepdim(self.keepdim)
    }
}

/// Returns the run-time names of the result of a reduction.
fn remaining_names(x: ErasedRef<'_>, picked: Picked, out: &Static) -> Wilds {
    wilds(rule::reduce(x.wild?, picked.at, picked.keepdim), out)
}

/// Reduces the elements over dims to one number each.
pub(crate) fn new(
    op: Op,
    x: ErasedRef<'_>,
    picked: Picked,
    options: ReduceOptions,
    out: &'static Static,
) -> Result<Erased> {
    let raw = typed(|| call::reduce(op, x.raw, picked.at, picked.keepdim, options));
    let raw = raw.map_err(|error| x.blame(error))?;
    Ok(Erased {
        raw,
        wild: remaining_names(x, picked, out),
    })
}

/// Returns the extreme along one dim and its index; over all dims, the extreme twice.
pub(crate) fn extreme(
    op: Op,
    x: ErasedRef<'_>,
    picked: Picked,
    out: &'static Static,
) -> Result<(Erased, Erased)> {
    if picked.all {
        let value = new(op, x, picked, ReduceOptions::default(), out)?;
        // There are no indices, and the caller does not use them.
        return Ok((value.clone(), value));
    }
    let found = call::arg_reduce(op, x.raw, picked.at[0], picked.keepdim);
    let (values, indices) = found.map_err(|error| x.blame(error))?;
    let wild = remaining_names(x, picked, out);
    Ok((
        Erased {
            raw: values,
            wild: wild.clone(),
        },
        Erased { raw: indices, wild },
    ))
}

/// Returns the index of the extreme.
pub(crate) fn place(
    op: Op,
    x: ErasedRef<'_>,
    picked: Picked,
    out: &'static Static,
) -> Result<Erased> {
    let dim = (!picked.all).then(|| picked.at[0]);
    let raw = call::arg_position(op, x.raw, dim, picked.keepdim);
    let raw = raw.map_err(|error| x.blame(error))?;
    Ok(Erased {
        raw,
        wild: remaining_names(x, picked, out),
    })
}

/// Computes exponentials along a dim, divided by their sum.
pub(crate) fn softmax(
    op: Op,
    x: ErasedRef<'_>,
    dim: usize,
    dtype: Option<DType>,
) -> Result<Erased> {
    let raw = call::softmax(op, x.raw, dim, dtype).map_err(|error| x.blame(error))?;
    Ok(Erased {
        raw,
        wild: x.wild(),
    })
}

/// Computes running results along a dim.
pub(crate) fn scan(op: Op, x: ErasedRef<'_>, dim: usize, dtype: Option<DType>) -> Result<Erased> {
    let raw = call::scan(op, x.raw, dim, dtype).map_err(|error| x.blame(error))?;
    Ok(Erased {
        raw,
        wild: x.wild(),
    })
}

/// Stores a computed result in an out tensor, or in self.
pub(crate) fn store(
    op: Op,
    result: Erased,
    computed: &'static Static,
    out: &mut Erased,
    of: &'static Static,
) -> Result<()> {
    let name = op.name();
    let (own, result_names): (Names, Names) = (
        names(out.wild.as_deref(), of),
        names(result.wild.as_deref(), computed),
    );
    let at = |error| explain(error, &[out.erased(of), result.erased(computed)]);
    rule::dtype::cast_to(name, result.raw.dtype(), out.raw.dtype()).map_err(at)?;
    rule::out_shape(name, &own, out.raw.shape(), result.raw.shape()).map_err(at)?;
    let now = rule::out(name, &own, &result_names).map_err(at)?;
    call::fits_device(name, out.raw.device(), result.raw.device()).map_err(at)?;
    // The old buffer of an out tensor is not shared: adopting that of the result saves a pass.
    out.replace_elements(call::to_dtype(&result.raw, out.raw.dtype())?);
    out.wild = wilds(now, of);
    Ok(())
}
