//! Folds of 16-bit floats that are widened as they are read: the rounding errors of the wider type are smaller
//! than their own.

use std::marker::PhantomData;

use nomina_core::Element;

use super::fold::Fold;
use crate::cpu::numeric::Convert;

/// A fold over elements `H` that are combined like those of `F`.
pub(crate) struct Widened<F, H>(PhantomData<(F, H)>);

impl<F, H> Fold for Widened<F, H>
where
    F: Fold<X = <F as Fold>::T>,
    H: Element + Convert<F::T> + Sync,
{
    type X = H;
    type T = F::T;
    type Acc = F::Acc;
    const IDENTITY: F::T = F::IDENTITY;
    #[inline(always)]
    fn widen(x: H) -> F::T {
        x.convert()
    }
    #[inline(always)]
    fn combine(a: F::T, b: F::T) -> F::T {
        F::combine(a, b)
    }
    fn start() -> F::Acc {
        F::start()
    }
    #[inline]
    fn add(acc: &mut F::Acc, part: F::T) {
        F::add(acc, part);
    }
    #[inline(always)]
    fn overflows(part: F::T) -> bool {
        F::overflows(part)
    }
    fn merge(acc: &mut F::Acc, other: &F::Acc) {
        F::merge(acc, other);
    }
    fn finish(acc: &F::Acc, divisor: f64) -> F::T {
        F::finish(acc, divisor)
    }
    fn done(acc: &F::Acc) -> bool {
        F::done(acc)
    }
}
