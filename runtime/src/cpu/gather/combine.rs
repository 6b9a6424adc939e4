//! Rules that combine an element with a value that is written to it.

use half::{bf16, f16};

use crate::cpu::numeric::{Number, Ordered};

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
