//! Stubs of the module `profile` for builds without its feature.

use nomina_core::Names;

/// Returns whether operators are profiled: never.
#[inline(always)]
#[must_use]
pub const fn is_on() -> bool {
    false
}

/// A span that measures nothing.
pub(crate) struct Span;

impl Span {
    #[inline(always)]
    pub(crate) fn new(_: &'static str) -> Self {
        Self
    }
}

#[inline(always)]
pub(crate) fn allocated(_: &'static str, _: usize, _: usize) {}

#[doc(hidden)]
#[inline(always)]
pub fn named(_: &Names, _: &[usize], _: usize) {}

#[doc(hidden)]
#[inline(always)]
pub fn written(_: &Names, _: &[usize]) {}
