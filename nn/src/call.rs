//! What typed layers share.

use std::cell::Cell;

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

/// A result whose dims the types have computed.
pub(crate) fn typed<D: Dims + Distinct, T: Element>(raw: Raw) -> Result<Tensor<D, T>> {
    let tensor = DynTensor::from_parts(raw, Names::from_static(D::NAMES))?;
    tensor.into_typed().map_err(|(_, error)| error)
}

thread_local! {
    /// Whether layers are made without weights.
    static UNSET: Cell<bool> = const { Cell::new(false) };
}

/// Does `make` while layers get no weights.
pub(crate) fn unset<M>(make: impl FnOnce() -> M) -> M {
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            UNSET.set(self.0);
        }
    }
    let _restore = Restore(UNSET.replace(true));
    make()
}

/// A tensor whose dims the types have computed, filled by `fill`.
fn filled<D: Dims + Distinct, T: Element>(
    sizes: &[usize],
    fill: impl FnOnce(&mut DynTensor) -> Result<()>,
) -> Result<Tensor<D, T>> {
    let names = Names::from_static(D::NAMES);
    let options = DynTensor::options().dtype(T::DTYPE);
    let mut tensor = if UNSET.get() {
        // One zero, which is all of them.
        let zero = options.zeros(&[], ())?.into_parts().0;
        DynTensor::from_parts(zero.expand(sizes)?, names)?
    } else {
        options.empty(sizes, names)?
    };
    if !UNSET.get() {
        fill(&mut tensor)?;
    }
    tensor.into_typed().map_err(|(_, error)| error)
}

/// Numbers that are uniform within `bound` of zero.
pub(crate) fn uniform<D: Dims + Distinct, T: Element>(
    sizes: &[usize],
    bound: f64,
) -> Result<Tensor<D, T>> {
    filled(sizes, |tensor| tensor.uniform_(-bound, bound).map(|_| ()))
}

/// Normally distributed numbers.
pub(crate) fn normal<D: Dims + Distinct, T: Element>(
    sizes: &[usize],
    mean: f64,
    std: f64,
) -> Result<Tensor<D, T>> {
    filled(sizes, |tensor| tensor.normal_(mean, std).map(|_| ()))
}

/// One number everywhere.
pub(crate) fn full<D: Dims + Distinct, T: Element>(
    sizes: &[usize],
    value: f64,
) -> Result<Tensor<D, T>> {
    filled(sizes, |tensor| tensor.fill_(value).map(|_| ()))
}

/// The product of sizes, as what scales weights.
pub(crate) fn product(sizes: &[usize]) -> f64 {
    sizes.iter().map(|&size| size as f64).product()
}
