//! Inputs of differentiated functions: one tensor, or several in a tuple.

use std::cell::Cell;
use std::panic::Location;

use nomina_core::dims::Dims;
use nomina_core::{Element, Inexact, Result};
use nomina_runtime::Raw;
use nomina_runtime::grad::Function;

use crate::Tensor;
use crate::erased::{Erased, ErasedRef, Wilds};

/// A tensor, or a tuple of up to 8 tensors: `&w`, `(&w, &b)`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an input with a gradient",
    label = "expected borrowed tensors, float or complex",
    note = "borrow a tensor, or up to 8: `&w`, `(&w, &b)`"
)]
pub trait Inputs {
    /// The tensors, owned; the gradient has these types.
    type Owned: Arguments;

    #[doc(hidden)]
    fn erased(&self) -> Vec<ErasedRef<'_>>;
}

/// The arguments of a closure: tensors that the call owns.
pub trait Arguments: Sized + 'static {
    /// The arguments as lent to the closure.
    type Lent<'a>;

    #[doc(hidden)]
    fn own(raws: &[Raw], wilds: &[Wilds]) -> Self;

    #[doc(hidden)]
    fn lend(&self) -> Self::Lent<'_>;
}

/// The argument of a closure for inputs of these types.
pub(super) type Lent<'a, I> = <<I as Inputs>::Owned as Arguments>::Lent<'a>;

#[diagnostic::do_not_recommend]
impl<D: Dims, T: Inexact> Inputs for &Tensor<D, T> {
    type Owned = Tensor<D, T>;

    fn erased(&self) -> Vec<ErasedRef<'_>> {
        vec![Tensor::erased(self)]
    }
}

impl<D: Dims, T: Inexact> Arguments for Tensor<D, T> {
    type Lent<'a> = &'a Self;

    fn own(raws: &[Raw], wilds: &[Wilds]) -> Self {
        tensor(0, raws, wilds)
    }

    fn lend(&self) -> &Self {
        self
    }
}

fn tensor<D: Dims, T: Element>(at: usize, raws: &[Raw], wilds: &[Wilds]) -> Tensor<D, T> {
    Tensor::kept(Erased {
        raw: raws[at].clone(),
        wild: wilds[at].clone(),
    })
}

macro_rules! tuples {
    ($($d:ident $t:ident $at:tt),*) => {
        #[diagnostic::do_not_recommend]
        impl<$($d: Dims, $t: Inexact,)*> Inputs for ($(&Tensor<$d, $t>,)*) {
            type Owned = ($(Tensor<$d, $t>,)*);

            fn erased(&self) -> Vec<ErasedRef<'_>> {
                vec![$(Tensor::erased(self.$at)),*]
            }
        }

        impl<$($d: Dims, $t: Inexact,)*> Arguments for ($(Tensor<$d, $t>,)*) {
            type Lent<'a> = ($(&'a Tensor<$d, $t>,)*);

            fn own(raws: &[Raw], wilds: &[Wilds]) -> Self {
                ($(tensor($at, raws, wilds),)*)
            }

            fn lend(&self) -> Self::Lent<'_> {
                ($(&self.$at,)*)
            }
        }
    };
}
tuples!(D0 T0 0);
tuples!(D0 T0 0, D1 T1 1);
tuples!(D0 T0 0, D1 T1 1, D2 T2 2);
tuples!(D0 T0 0, D1 T1 1, D2 T2 2, D3 T3 3);
tuples!(D0 T0 0, D1 T1 1, D2 T2 2, D3 T3 3, D4 T4 4);
tuples!(D0 T0 0, D1 T1 1, D2 T2 2, D3 T3 3, D4 T4 4, D5 T5 5);
tuples!(D0 T0 0, D1 T1 1, D2 T2 2, D3 T3 3, D4 T4 4, D5 T5 5, D6 T6 6);
tuples!(D0 T0 0, D1 T1 1, D2 T2 2, D3 T3 3, D4 T4 4, D5 T5 5, D6 T6 6, D7 T7 7);

/// Inputs without their types.
pub(super) struct Looks<'a> {
    pub(super) raws: Vec<&'a Raw>,
    pub(super) wilds: Vec<Wilds>,
}

impl<'a> Looks<'a> {
    pub(super) fn new<I: Inputs>(inputs: &'a I) -> Self {
        let looks = inputs.erased();
        Self {
            raws: looks.iter().map(|look| look.raw).collect(),
            wilds: looks.iter().map(|look| look.wild()).collect(),
        }
    }

    /// Calls `run` with a function without types. Returns its result and the run-time names of the
    /// function's last value.
    pub(super) fn run<A: Arguments, E: Dims, U: Element, R>(
        &self,
        f: impl Fn(A::Lent<'_>) -> Tensor<E, U>,
        run: impl FnOnce(Function<'_>) -> Result<R>,
    ) -> Result<(R, Wilds)> {
        let wild = Cell::new(None);
        let found = run(&|raws| {
            let y = f(A::own(raws, &self.wilds).lend());
            wild.set(y.erased().wild());
            Ok(y.erased().raw.clone())
        });
        Ok((found?, wild.into_inner()))
    }
}

/// Returns the tensors of results, one for each input.
#[cfg_attr(debug_assertions, track_caller)]
pub(super) fn owned<A: Arguments>(mut raws: Vec<Raw>, wilds: &[Wilds]) -> A {
    for raw in &mut raws {
        raw.set_made(Location::caller());
    }
    A::own(&raws, wilds)
}

/// Returns the tensor of a result.
#[cfg_attr(debug_assertions, track_caller)]
pub(super) fn typed<D: Dims, T: Element>(raw: Raw, wild: Wilds) -> Tensor<D, T> {
    Tensor::from_erased(Erased { raw, wild })
}
