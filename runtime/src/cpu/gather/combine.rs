//! Rules that combine an element with a value that is written to it.

use std::marker::PhantomData;

use half::{bf16, f16};
use num_complex::Complex;

use crate::cpu::numeric::{Convert, Number, Ordered};

/// The combination of an element with a value that is written to it.
pub(super) trait Combine<T> {
    fn apply(own: T, new: T) -> T;
}

pub(super) struct CombineSet;
pub(super) struct Add;
pub(super) struct Mul;
pub(super) struct CombineMax;
pub(super) struct CombineMin;

macro_rules! rules {
    ($($rule:ident $bound:ident $f:path;)*) => {$(
        impl<T: $bound> Combine<T> for $rule {
            #[inline(always)]
            fn apply(own: T, new: T) -> T {
                $f(own, new)
            }
        }
    )*};
    (@halves $($rule:ident $t:ident $f:path;)*) => {$(
        impl Combine<$t> for $rule {
            #[inline(always)]
            fn apply(own: $t, new: $t) -> $t {
                $t::from_f32($f(own.to_f32(), new.to_f32()))
            }
        }
    )*};
}

rules! {
    Add Number Number::add;
    Mul Number Number::mul;
    CombineMax Ordered Ordered::maximum;
    CombineMin Ordered Ordered::minimum;
}
rules! { @halves
    CombineMax f16 Ordered::maximum;
    CombineMax bf16 Ordered::maximum;
    CombineMin f16 Ordered::minimum;
    CombineMin bf16 Ordered::minimum;
}

impl<T> Combine<T> for CombineSet {
    #[inline(always)]
    fn apply(_: T, new: T) -> T {
        new
    }
}

/// An element type, and the types in which elements are combined.
pub(super) trait Narrow: Convert<Self::Wide> + Convert<Self::Single> + Copy {
    /// The type in which an element is combined with several values.
    type Wide: Number + Convert<Self>;
    /// The type in which an element is combined with a single value, with the same result.
    type Single: Number + Convert<Self>;
}

impl Narrow for f16 {
    type Wide = f64;
    type Single = f32;
}
impl Narrow for bf16 {
    type Wide = f64;
    type Single = f32;
}
impl Narrow for f32 {
    type Wide = f64;
    type Single = f32;
}
impl Narrow for Complex<f32> {
    type Wide = Complex<f64>;
    type Single = Complex<f64>;
}

/// The rule for an element that gets a single value.
pub(super) struct Once<R>(PhantomData<R>);

impl<T: Narrow, R: Combine<T::Single>> Combine<T> for Once<R> {
    #[inline(always)]
    fn apply(own: T, new: T) -> T {
        let (own, new): (T::Single, T::Single) = (own.convert(), new.convert());
        R::apply(own, new).convert()
    }
}

/// Combines a row of elements with values.
///
/// # Safety
/// Nobody else accesses the `n` elements at `own`; at `new`, `n` elements are readable, or one
/// unless `each`.
pub(super) unsafe fn row<T: Copy, R: Combine<T>>(own: *mut T, new: *const T, n: usize, each: bool) {
    // SAFETY: guaranteed by the caller.
    let own = unsafe { std::slice::from_raw_parts_mut(own, n) };
    if each {
        // SAFETY: guaranteed by the caller.
        let new = unsafe { std::slice::from_raw_parts(new, n) };
        for (own, &new) in own.iter_mut().zip(new) {
            *own = R::apply(*own, new);
        }
    } else if n > 0 {
        // SAFETY: guaranteed by the caller.
        let new = unsafe { new.read() };
        for own in own {
            *own = R::apply(*own, new);
        }
    }
}
