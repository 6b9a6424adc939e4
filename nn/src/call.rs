//! What typed layers share.

use std::panic::Location;

use nomina::dims::{Dims, Distinct};
use nomina::{DynTensor, Element, Error, Names, Result, Tensor, Typed};
use nomina_runtime::Raw;

/// The value, or a panic at the user's line.
#[track_caller]
pub(crate) fn ok<V>(result: Result<V>) -> V {
    match result {
        Ok(value) => value,
        Err(error) => fail(&error),
    }
}

#[cold]
#[track_caller]
fn fail(error: &Error) -> ! {
    panic!("{error}")
}

/// The error with the operands as the user knows them.
pub(crate) fn explain(error: Error, operands: &[&DynTensor]) -> Error {
    type Made = Option<&'static Location<'static>>;
    let made = |x: &DynTensor| -> Made { x.raw().made() };
    error
        .with_names(operands.iter().map(|x| x.names()))
        .with_shapes(operands.iter().map(|x| x.shape()))
        .made_at(operands.iter().map(|x| (x.names(), x.shape(), made(x))))
}

/// A result whose dims the types have computed.
pub(crate) fn typed<D: Dims + Distinct, T: Element>(raw: Raw) -> Result<Tensor<D, T>> {
    let tensor = DynTensor::from_parts(raw, Names::from_static(D::NAMES))?;
    tensor.into_typed().map_err(|(_, error)| error)
}

/// Numbers that are uniform within `bound` of zero, for dims that the types have computed.
pub(crate) fn uniform<D: Dims + Distinct, T: Element>(
    sizes: &[usize],
    bound: f64,
) -> Result<Tensor<D, T>> {
    let names = Names::from_static(D::NAMES);
    let mut drawn = DynTensor::options().dtype(T::DTYPE).empty(sizes, names)?;
    drawn.uniform_(-bound, bound)?;
    drawn.into_typed().map_err(|(_, error)| error)
}
