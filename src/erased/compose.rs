//! Typed operators that [`DynTensor`] computes.
//!
//! Where types know every name, the operands are passed without names, so that nothing is inferred
//! again; dims are given by position. If any dim is a `Wild`, all operands get the names that they
//! have at run time, and the rules decide.

use nomina_core::{Names, Result};
use nomina_runtime::{DynTensor, Raw};

use super::{Erased, ErasedRef, Static, explain, typed, wilds};

/// Computes on the operands as dynamic tensors. An error shows the operands' names.
pub(crate) fn call_dynamic<V>(
    operands: &[ErasedRef<'_>],
    compute: impl Fn(&[DynTensor]) -> Result<V>,
) -> Result<V> {
    let named = operands.iter().any(|x| x.of.wild);
    let given = |named: bool| {
        let each = |x: &ErasedRef<'_>| {
            let names = if named {
                x.names()
            } else {
                Names::unnamed(x.raw.rank())
            };
            DynTensor::from_parts(x.raw.clone(), names)
        };
        operands.iter().map(each).collect::<Result<Vec<_>>>()
    };
    let first = given(named)?;
    typed(|| compute(&first)).map_err(|error| {
        if named {
            return explain(error, operands);
        }
        // An error about sizes or dtypes occurs again with names, and then shows them.
        match given(true).and_then(|given| typed(|| compute(&given))) {
            Err(told) if told.kind() == error.kind() => explain(told, operands),
            _ => error,
        }
    })
}

/// Converts a dynamic result to one with dims `out`, whose names types know except those of `Wild`
/// dims.
pub(crate) fn erase(result: DynTensor, out: &'static Static) -> Erased {
    let (raw, names): (Raw, Names) = result.into_parts();
    Erased {
        raw,
        wild: wilds(names, out),
    }
}

/// Like [`call_dynamic`], but for an operator with one result.
pub(crate) fn call_for_tensor(
    operands: &[ErasedRef<'_>],
    out: &'static Static,
    compute: impl Fn(&[DynTensor]) -> Result<DynTensor>,
) -> Result<Erased> {
    call_dynamic(operands, compute).map(|result| erase(result, out))
}

/// Like [`call_dynamic`], but for an operator with two results of the same dims.
pub(crate) fn call_for_pair(
    operands: &[ErasedRef<'_>],
    out: &'static Static,
    compute: impl Fn(&[DynTensor]) -> Result<(DynTensor, DynTensor)>,
) -> Result<(Erased, Erased)> {
    call_dynamic(operands, compute).map(|(a, b)| (erase(a, out), erase(b, out)))
}
