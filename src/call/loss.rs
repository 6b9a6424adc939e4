//! Losses, with weights that may be left out.

use nomina_core::Result;
use nomina_runtime::DynTensor;
use smallvec::SmallVec;

use super::{Bare, Look, Static, compose};

/// A loss of a prediction and a target with two weights.
pub(crate) fn weighted(
    x: Look<'_>,
    target: Look<'_>,
    weights: [Option<Look<'_>>; 2],
    out: &'static Static,
    compute: impl Fn(&DynTensor, &DynTensor, [Option<&DynTensor>; 2]) -> Result<DynTensor>,
) -> Result<Bare> {
    let mut looks: SmallVec<[Look<'_>; 4]> = smallvec::smallvec![x, target];
    looks.extend(weights.into_iter().flatten());
    compose::one(&looks, out, |given| {
        let mut rest = given[2..].iter();
        let weights = [
            weights[0].and_then(|_| rest.next()),
            weights[1].and_then(|_| rest.next()),
        ];
        compute(&given[0], &given[1], weights)
    })
}
