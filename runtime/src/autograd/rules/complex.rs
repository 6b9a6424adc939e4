//! Gradients of views of complex numbers, and of conjugates.

use nomina_core::Result;

use crate::call::arithmetic::conj;
use crate::call::{as_complex, as_real, contiguous};
use crate::raw::Raw;
use crate::tape::{Backward, Conjugation, Upstream, ViewAsComplex, ViewAsReal};

impl Backward for ViewAsReal {
    fn gradient(&self, upstream: &Upstream<'_>, _: usize) -> Result<Option<Raw>> {
        as_complex(&contiguous(&upstream.grad()?)?).map(Some)
    }
}

impl Backward for ViewAsComplex {
    fn gradient(&self, upstream: &Upstream<'_>, _: usize) -> Result<Option<Raw>> {
        as_real(&upstream.grad()?).map(Some)
    }
}

impl Backward for Conjugation {
    fn gradient(&self, upstream: &Upstream<'_>, _: usize) -> Result<Option<Raw>> {
        conj(&upstream.grad()?).map(Some)
    }
}
