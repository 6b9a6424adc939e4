//! Repetition counts of dims: `repeat`, `tile`.

use super::axes::{DimOf, EachIn};
use super::axis::Of;
use super::dims::Dims;
use super::places::places;
use super::shape::{ShapeFor, Sizes};

/// Counts for dims `D`: by name, `C.of(2)` or `(N.of(2), C.of(3))`, where other dims do not repeat;
/// or an array with one count per dim, `[2, 3]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say how often dims {D} repeat",
    label = "expected counts, such as `C.of(2)` or `(N.of(2), C.of(3))`, or one for each dim of {D}"
)]
pub trait Repeats<D> {
    /// Writes the counts of the dims that have one.
    fn counts(&self, all: &mut [i64]);
}

/// Converts a count, saturating: a count beyond `i64` exceeds any memory.
fn count(size: usize) -> i64 {
    i64::try_from(size).unwrap_or(i64::MAX)
}

impl<D: Dims, S: Sizes> Repeats<D> for S
where
    S::Dims: EachIn<D>,
{
    fn counts(&self, all: &mut [i64]) {
        for (place, size) in places::<D, S::Dims>().iter().zip(self.sizes()) {
            if let Some(own) = place.and_then(|at| all.get_mut(at)) {
                *own = count(size);
            }
        }
    }
}

#[diagnostic::do_not_recommend]
impl<D: Dims, A: DimOf<D>> Repeats<D> for Of<A> {
    fn counts(&self, all: &mut [i64]) {
        let at = super::places::position::<A, D>();
        if let Some(own) = all.get_mut(at) {
            *own = count(self.size);
        }
    }
}

#[diagnostic::do_not_recommend]
impl<D, const K: usize> Repeats<D> for [usize; K]
where
    Self: ShapeFor<D>,
{
    fn counts(&self, all: &mut [i64]) {
        for (own, &size) in all.iter_mut().zip(self) {
            *own = count(size);
        }
    }
}
