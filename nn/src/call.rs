//! Helpers for typed layers.

use std::cell::{Cell, RefCell};

use nomina::dims::{Dims, Distinct};
use nomina::{DropoutOptions, DynTensor, Element, Error, Generator, Names, Result, Tensor, Typed};
use nomina_runtime::Raw;

/// Returns the value, or panics at the user's line.
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

/// Converts a result whose dims are computed in types.
pub(crate) fn typed<D: Dims + Distinct, T: Element>(raw: Raw) -> Result<Tensor<D, T>> {
    let tensor = DynTensor::from_parts(raw, Names::from_static(D::NAMES))?;
    tensor.into_typed().map_err(|(_, error)| error)
}

/// Sets elements to zero with a probability, and scales the others so that the mean is preserved.
pub(crate) fn dropped(raw: Raw, p: f64) -> Result<Raw> {
    let names = Names::unnamed(raw.rank());
    let options = DropoutOptions { p, training: true };
    let found = DynTensor::from_parts(raw, names)?.dropout_with(options)?;
    Ok(found.into_parts().0)
}

thread_local! {
    /// Whether layers are created without weights.
    static UNSET: Cell<bool> = const { Cell::new(false) };
}

/// Returns whether layers are created without weights.
pub(crate) fn is_unset() -> bool {
    UNSET.get()
}

/// Runs `make` with layers created without weights.
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
    /// The generator of weights, if it is not the default one.
    static GENERATOR: RefCell<Option<Generator>> = const { RefCell::new(None) };
}

/// Runs `make` with weights drawn from a generator.
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

/// Creates a tensor whose dims are computed in types, filled by `fill`.
fn filled<D: Dims + Distinct, T: Element>(
    sizes: &[usize],
    fill: impl FnOnce(&mut DynTensor) -> Result<()>,
) -> Result<Tensor<D, T>> {
    let names = Names::from_static(D::NAMES);
    let options = DynTensor::options().dtype(T::DTYPE);
    let mut tensor = if UNSET.get() {
        // A single zero, expanded without taking memory.
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

/// Creates a tensor of uniformly distributed numbers.
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

/// Creates a tensor of normally distributed numbers.
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

/// Creates a tensor filled with a number.
pub(crate) fn full<D: Dims + Distinct, T: Element>(
    sizes: &[usize],
    value: f64,
) -> Result<Tensor<D, T>> {
    filled(sizes, |tensor| tensor.fill_(value).map(|_| ()))
}

/// Returns the product of sizes as a float, to scale weights.
pub(crate) fn product(sizes: &[usize]) -> f64 {
    sizes.iter().map(|&size| size as f64).product()
}
