//! One element by its indices.

use nomina_core::Element;
use nomina_core::dims::Dims;

use super::Tensor;
use crate::call::ok;

/// An index for each of the dims `D`, in any order: `(N.i(0), C.i(2))`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an index into dims {D}",
    label = "give one index for each dim of {D}",
    note = "for example `(N.i(0), C.i(2))`"
)]
pub trait Indices<D> {
    #[doc(hidden)]
    fn indices(&self) -> [usize; 8];
}

impl<D: Dims, T: Element> Tensor<D, T> {
    /// One element; `None` where an index is out of range.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C }
    /// let x = tensor!([[1., 2., 3.], [4., 5., 6.]]; N, C);
    /// assert_eq!(x.get((N.i(1), C.i(2))), Some(6.0));
    /// assert_eq!(x.get((C.i(2), N.i(2))), None);
    /// ```
    ///
    /// # Panics
    /// When the tensor is not on the CPU.
    #[track_caller]
    #[must_use]
    pub fn get<I: Indices<D>>(&self, index: I) -> Option<T> {
        let index = &index.indices()[..D::RANK];
        let inside = index.iter().zip(self.shape()).all(|(at, size)| at < size);
        inside.then(|| ok(self.bare.raw.get(index)))
    }
}
