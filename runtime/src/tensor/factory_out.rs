//! Factories with default options, and into an out tensor.

use std::ops::RangeBounds;

use nomina_core::op::Op;
use nomina_core::{Result, Scalar};

use super::{DynTensor, IntoNames, LogspaceOptions, family};
use crate::random::Generator;

/// Methods of [`Options`](super::Options), in a dtype and on a device that `out` says.
macro_rules! into_out {
    ($($op:ident $method:ident $out:ident ($($arg:ident: $of:ty),*) $(with $with:expr)?;)*) => {
        impl DynTensor {$(
            #[doc = concat!("[`DynTensor::", stringify!($method), "`] into `out`, in its dtype.")]
            ///
            /// # Errors
            #[doc = concat!("As [`DynTensor::", stringify!($method), "`], and when `out` has names and other sizes.")]
            pub fn $out($($arg: $of,)* names: impl IntoNames, out: &mut Self) -> Result<()> {
                let options = Self::options().dtype(out.dtype()).device(out.device());
                let made = options.$method($($arg,)* names $(, $with)?)?;
                family::store(Op::$op, made, out)
            }
        )*}
    };
}

/// The same with default options.
macro_rules! factories {
    ($($op:ident $method:ident $out:ident ($($arg:ident: $of:ty),*) $doc:literal;)*) => {
        impl DynTensor {$(
            #[doc = $doc]
            ///
            /// # Errors
            #[doc = concat!("As [`Options::", stringify!($method), "`](super::Options::", stringify!($method), ").")]
            pub fn $method($($arg: $of,)* names: impl IntoNames) -> Result<Self> {
                Self::options().$method($($arg,)* names)
            }
        )*}
        into_out! { $($op $method $out ($($arg: $of),*);)* }
    };
}

factories! {
    Zeros zeros zeros_out (size: &[usize]) "Zeros of the default float dtype.";
    Ones ones ones_out (size: &[usize]) "Ones of the default float dtype.";
    Empty empty empty_out (size: &[usize]) "Unspecified elements of the default float dtype; they are zeros.";
    Full full full_out (size: &[usize], value: impl Into<Scalar>)
        "One number everywhere; its kind gives the dtype, as in PyTorch.";
    Arange arange arange_out (start: impl Into<Scalar>, end: impl Into<Scalar>, step: impl Into<Scalar>)
        "Numbers from `start` to before `end`, `step` apart: i64 if all three are integers.";
    Rand rand rand_out (size: &[usize]) "Random numbers, uniform from 0 to before 1.";
    Randn randn randn_out (size: &[usize]) "Random numbers of the standard normal distribution.";
    Randint randint randint_out (range: impl RangeBounds<i64>, size: &[usize])
        "Random whole numbers in a range, which has an end; i64 unless asked.";
    Randperm randperm randperm_out (n: usize) "The numbers from 0 to before `n` in random order; i64 unless asked.";
}

into_out! {
    Eye eye eye_out (n: usize, m: usize);
    Linspace linspace linspace_out (start: impl Into<Scalar>, end: impl Into<Scalar>, steps: usize);
    Logspace logspace logspace_out (start: impl Into<Scalar>, end: impl Into<Scalar>, steps: usize)
        with LogspaceOptions::default();
}

/// Factories of random numbers from a generator.
macro_rules! drawn_from {
    ($($method:ident $from:ident ($($arg:ident: $of:ty),*);)*) => {
        impl DynTensor {$(
            #[doc = concat!("[`DynTensor::", stringify!($method), "`] from a generator.")]
            ///
            /// # Errors
            #[doc = concat!("As [`Options::", stringify!($method), "`](super::Options::", stringify!($method), ").")]
            pub fn $from($($arg: $of,)* names: impl IntoNames, generator: &mut Generator) -> Result<Self> {
                Self::options().$from($($arg,)* names, generator)
            }
        )*}
    };
}

drawn_from! {
    rand rand_from (size: &[usize]);
    randn randn_from (size: &[usize]);
    randint randint_from (range: impl RangeBounds<i64>, size: &[usize]);
    randperm randperm_from (n: usize);
}
