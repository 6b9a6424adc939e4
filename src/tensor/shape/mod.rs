//! Moving, repeating, splitting, joining and rearranging elements.

pub mod complex;
pub mod diagonal;
pub mod grid;
pub mod moves;
pub mod range;
pub mod triangle;

use nomina_core::dims::{Dims, Repeats};
use nomina_core::{Element, Result};
use nomina_runtime::call::{self, Ranges};

use super::{Tensor, Whole};
use crate::erased::ErasedRef;

pub use complex::ComplexPart;
pub use grid::{
    Vectors, block_diag, cartesian_prod, meshgrid, try_block_diag, try_cartesian_prod, try_meshgrid,
};

/// The shifts of [`Tensor::roll`]: one number for one dim, `1`, or one for each, `[1, -2]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say how far to roll",
    label = "expected a whole number, or one for each dim such as `[1, -2]`"
)]
pub trait Shifts {
    #[doc(hidden)]
    fn shifts(&self) -> Vec<i64>;
}

impl<W: Whole> Shifts for W {
    fn shifts(&self) -> Vec<i64> {
        vec![self.whole()]
    }
}

#[diagnostic::do_not_recommend]
impl<W: Whole, const K: usize> Shifts for [W; K] {
    fn shifts(&self) -> Vec<i64> {
        self.iter().map(|shift| shift.whole()).collect()
    }
}

/// The cuts of [`Tensor::tensor_split`]: a number of pieces, `3`, or indices to cut before,
/// `[1, -1]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say where to cut",
    label = "expected the number of parts, or the indices to cut before such as `[1, -1]`"
)]
pub trait Sections {
    #[doc(hidden)]
    fn ranges(&self, size: usize) -> Result<Ranges>;
}

impl<W: Whole> Sections for W {
    fn ranges(&self, size: usize) -> Result<Ranges> {
        call::sections("tensor_split", size, self.whole())
    }
}

#[diagnostic::do_not_recommend]
impl<W: Whole, const K: usize> Sections for [W; K] {
    fn ranges(&self, size: usize) -> Result<Ranges> {
        Ok(call::cuts(size, &self.shifts()))
    }
}

/// The counts of [`Tensor::repeat_interleave`]: one for all elements, `2`, or one for each, a
/// vector of integers.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say how often to repeat",
    label = "expected a whole number, or a tensor of integers"
)]
pub trait Interleave {
    #[doc(hidden)]
    fn with<V>(&self, repeat: impl FnOnce(std::result::Result<ErasedRef<'_>, i64>) -> V) -> V;
}

impl<W: Whole> Interleave for W {
    fn with<V>(&self, repeat: impl FnOnce(std::result::Result<ErasedRef<'_>, i64>) -> V) -> V {
        repeat(Err(self.whole()))
    }
}

#[diagnostic::do_not_recommend]
impl<D: Dims, T: Element> Interleave for &Tensor<D, T> {
    fn with<V>(&self, repeat: impl FnOnce(std::result::Result<ErasedRef<'_>, i64>) -> V) -> V {
        repeat(Ok(self.erased()))
    }
}

/// A count beyond `i64` exceeds the number of elements.
fn count_of(pieces: usize) -> i64 {
    i64::try_from(pieces).unwrap_or(i64::MAX)
}
