//! Normalisations with optional scales.

use nomina_core::Result;
use nomina_runtime::{DynTensor, Raw};
use smallvec::SmallVec;

use super::{Erased, ErasedRef, Static, compose};

/// A weight and a bias.
type Scales<'a> = [Option<ErasedRef<'a>>; 2];

/// Collects the operands and the scales that are given.
fn gather<'a>(first: &[ErasedRef<'a>], scales: Scales<'a>) -> SmallVec<[ErasedRef<'a>; 5]> {
    let scales = scales.into_iter().flatten();
    first.iter().copied().chain(scales).collect()
}

/// Finds the scales among dynamic operands, after the first `from`.
fn scales<'a>(
    given: &'a [DynTensor],
    from: usize,
    of: &[Option<ErasedRef<'_>>; 2],
) -> [Option<&'a DynTensor>; 2] {
    let mut rest = given[from..].iter();
    [
        of[0].and_then(|_| rest.next()),
        of[1].and_then(|_| rest.next()),
    ]
}

/// Normalises with a weight and a bias.
pub(crate) fn affine(
    x: ErasedRef<'_>,
    of: Scales<'_>,
    out: &'static Static,
    compute: impl Fn(&DynTensor, Option<&DynTensor>, Option<&DynTensor>) -> Result<DynTensor>,
) -> Result<Erased> {
    compose::call_for_tensor(&gather(&[x], of), out, |given| {
        let [weight, bias] = scales(given, 1, &of);
        compute(&given[0], weight, bias)
    })
}

/// Normalises with given statistics.
pub(crate) fn running(
    x: ErasedRef<'_>,
    [mean, var]: [ErasedRef<'_>; 2],
    of: Scales<'_>,
    out: &'static Static,
    compute: impl Fn(&DynTensor, [&DynTensor; 2], [Option<&DynTensor>; 2]) -> Result<DynTensor>,
) -> Result<Erased> {
    compose::call_for_tensor(&gather(&[x, mean, var], of), out, |given| {
        compute(&given[0], [&given[1], &given[2]], scales(given, 3, &of))
    })
}

/// Normalises and updates statistics.
pub(crate) fn train(
    x: ErasedRef<'_>,
    [mean, var]: [ErasedRef<'_>; 2],
    of: Scales<'_>,
    out: &'static Static,
    compute: impl Fn(
        &DynTensor,
        &mut DynTensor,
        &mut DynTensor,
        [Option<&DynTensor>; 2],
    ) -> Result<DynTensor>,
) -> Result<(Erased, [Raw; 2])> {
    let operands = gather(&[x, mean, var], of);
    let (found, running) = compose::call_dynamic(&operands, |given| {
        let (mut mean, mut var) = (given[1].clone(), given[2].clone());
        let found = compute(&given[0], &mut mean, &mut var, scales(given, 3, &of))?;
        Ok((found, [mean, var].map(|running| running.into_parts().0)))
    })?;
    Ok((compose::erase(found, out), running))
}
