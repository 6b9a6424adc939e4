//! Losses with optional weights.

use nomina_core::Result;
use nomina_runtime::DynTensor;
use smallvec::SmallVec;

use super::{Erased, ErasedRef, Static, compose};

/// Computes a loss of a prediction and a target with two weights.
pub(crate) fn weighted(
    x: ErasedRef<'_>,
    target: ErasedRef<'_>,
    weights: [Option<ErasedRef<'_>>; 2],
    out: &'static Static,
    compute: impl Fn(&DynTensor, &DynTensor, [Option<&DynTensor>; 2]) -> Result<DynTensor>,
) -> Result<Erased> {
    let mut operands: SmallVec<[ErasedRef<'_>; 4]> = smallvec::smallvec![x, target];
    operands.extend(weights.into_iter().flatten());
    compose::call_for_tensor(&operands, out, |given| {
        let mut rest = given[2..].iter();
        let weights = [
            weights[0].and_then(|_| rest.next()),
            weights[1].and_then(|_| rest.next()),
        ];
        compute(&given[0], &given[1], weights)
    })
}
