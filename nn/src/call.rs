//! Helpers of typed layers.

use std::cell::{Cell, RefCell};

use nomina::dims::{Dims, Distinct};
use nomina::{DynTensor, Element, Error, Generator, Names, Result, Tensor, Typed};
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

thread_local! {
    /// What weights are drawn from, where it is not the default generator.
    static GENERATOR: RefCell<Option<Generator>> = const { RefCell::new(None) };
}

/// Does `make` while weights are drawn from a generator.
pub(crate) fn with_generator<M>(generator: &mut Generator, make: impl FnOnce() -> M) -> M {
    struct Lent<'a>(&'a mut Generator, Option<Generator>);
    impl Drop for Lent<'_> {
        fn drop(&mut self) {
            if let Some(drawn) = GENERATOR.replace(self.1.take()) {
                *self.0 = drawn;
            }
        }
    }
    let before = GENERATOR.replace(Some(generator.clone()));
    let _lent = Lent(generator, before);
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

/// Numbers that are uniform between two.
pub(crate) fn uniform<D: Dims + Distinct, T: Element>(
    sizes: &[usize],
    from: f64,
    to: f64,
) -> Result<Tensor<D, T>> {
    filled(sizes, |tensor| {
        GENERATOR.with_borrow_mut(|generator| match generator {
            Some(generator) => tensor.uniform_from_(from, to, generator).map(drop),
            None => tensor.uniform_(from, to).map(drop),
        })
    })
}

/// Normally distributed numbers.
pub(crate) fn normal<D: Dims + Distinct, T: Element>(
    sizes: &[usize],
    mean: f64,
    std: f64,
) -> Result<Tensor<D, T>> {
    filled(sizes, |tensor| {
        GENERATOR.with_borrow_mut(|generator| match generator {
            Some(generator) => tensor.normal_from_(mean, std, generator).map(drop),
            None => tensor.normal_(mean, std).map(drop),
        })
    })
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
