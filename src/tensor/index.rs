//! Indexing by name: one element, or a part.
//!
//! [`Tensor::get`], [`Tensor::at`].

use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

use nomina_core::dims::{
    Axis, Broadcast, Dims, IndexOf, IndexedBy, Resizable, SizeOf, Step, Subscript, SubscriptOf,
    Unstepped,
};
use nomina_core::{Element, Result};
use nomina_macros::twin;

use super::{Tensor, Whole};
use crate::erased::gather::{Pick, Picks, part};
use crate::erased::{Known, ok};

/// An index for each dim of `D`, in any order: `(N.i(0), C.i(2))`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an index into dims {D}",
    label = "give one index for each dim of {D}",
    note = "for example `(N.i(0), C.i(2))`"
)]
pub trait Indices<D> {
    #[doc(hidden)]
    fn indices(&self) -> [i64; 8];
}

/// Indices along some dims, in any order: `(N.i(0), H.i(2..10), C.i(&ids))`.
///
/// This determines only the resulting dims; [`SubscriptsOf`] checks that the dims exist.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tuple of dims with indices",
    label = "expected dims with indices, such as `(N.i(0), H.i(2..10))`"
)]
pub trait Subscripts {
    /// The dims of the result for dims `D`.
    type Of<D: Dims>: Dims;
    #[doc(hidden)]
    fn picks<D: Dims>(&self) -> Picks<'_>;
}

/// The dims of `x.at(S)`.
pub type Part<D, S> = <S as Subscripts>::Of<D>;

/// The indices are along distinct dims of `D`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not index dims {D}",
    label = "cannot index dims {D}"
)]
pub trait SubscriptsOf<D>: Subscripts {}
// One impl as root, so that rustc lists no others in its message.
impl<S: Subscripts + EachSubscript<D>, D> SubscriptsOf<D> for S {}

/// Like [`SubscriptsOf`], for each tuple length.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not index dims {D}",
    label = "cannot index dims {D}"
)]
pub trait EachSubscript<D> {}

/// Subscripts of numbers and ranges only, whose part can be written to.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not made of numbers and ranges",
    label = "elements at index tensors cannot be written to",
    note = "write with `index_put_`, `index_copy_` or `masked_fill_`"
)]
pub trait SubscriptViews: Subscripts {}

/// An index along a dim, as a value.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an index along a dim",
    label = "expected a number, a range, or a tensor of i64, i32 or bool"
)]
pub trait AsPick: Subscript {
    #[doc(hidden)]
    fn pick(&self) -> Pick<'_>;
}

#[diagnostic::do_not_recommend]
impl<I: Whole + Subscript> AsPick for I {
    fn pick(&self) -> Pick<'_> {
        Pick::At(self.whole())
    }
}

/// Returns the end of a range that includes `last`; -1 is the last index of the dim.
fn behind(last: i64) -> Option<i64> {
    (last != -1).then(|| last.saturating_add(1))
}

macro_rules! ranges {
    ($($t:ident, $r:ident => $start:expr, $end:expr;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<I: Whole> AsPick for $t<I> {
            fn pick(&self) -> Pick<'_> {
                let $r = self;
                Pick::Range($start, $end, 1)
            }
        }
    )*};
}
ranges! {
    Range, r => Some(r.start.whole()), Some(r.end.whole());
    RangeFrom, r => Some(r.start.whole()), None;
    RangeTo, r => None, Some(r.end.whole());
    RangeInclusive, r => Some(r.start().whole()), behind(r.end().whole());
    RangeToInclusive, r => None, behind(r.end.whole());
}

impl AsPick for RangeFull {
    fn pick(&self) -> Pick<'_> {
        Pick::Range(None, None, 1)
    }
}

#[diagnostic::do_not_recommend]
impl<R: AsPick + Unstepped> AsPick for Step<R> {
    fn pick(&self) -> Pick<'_> {
        let step = self.step.whole();
        match self.range.pick() {
            Pick::Range(start, end, _) => Pick::Range(start, end, step),
            other => other,
        }
    }
}

macro_rules! tensors {
    ($($t:ty)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<E: Dims> Subscript for &Tensor<E, $t> {
            type Removed<D: Dims, X: Axis> = D;
            type Placed<D: Dims, X: Axis> = IndexedBy<D, X, E>;
        }
        impl<D: Dims, X: Axis, E: Dims + IndexOf<D, X>> SubscriptOf<D, X> for &Tensor<E, $t> {}
        #[diagnostic::do_not_recommend]
        impl<E: Dims> AsPick for &Tensor<E, $t> {
            fn pick(&self) -> Pick<'_> {
                Pick::Tensor(self.erased())
            }
        }
    )*};
}
tensors!(i64 i32);

#[diagnostic::do_not_recommend]
impl<M: Axis> Subscript for &Tensor<(M,), bool> {
    type Removed<D: Dims, X: Axis> = D;
    type Placed<D: Dims, X: Axis> = D;
}
impl<D, X: Axis, M: Axis> SubscriptOf<D, X> for &Tensor<(M,), bool>
where
    SizeOf<X>: Resizable<X>,
    (X,): Broadcast<(M,)>,
{
}
#[diagnostic::do_not_recommend]
impl<M: Axis> AsPick for &Tensor<(M,), bool> {
    fn pick(&self) -> Pick<'_> {
        Pick::Tensor(self.erased())
    }
}

/// # Parts by index
impl<D: Dims, T: Element> Tensor<D, T> {
    /// Returns one element; `None` if an index is out of range. Negative indices count from the
    /// end.
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
    /// If the tensor's device fails.
    #[track_caller]
    #[must_use]
    pub fn get<I: Indices<D>>(&self, index: I) -> Option<T> {
        let mut found = [0; 8];
        let indices = index.indices();
        let each = found.iter_mut().zip(&indices);
        for ((found, &index), &size) in each.zip(self.shape()) {
            let index = if index < 0 {
                index + i64::try_from(size).ok()?
            } else {
                index
            };
            *found = usize::try_from(index).ok().filter(|&index| index < size)?;
        }
        Some(ok(self.erased.raw.get(&found[..D::RANK])))
    }

    /// Returns the part at indices by name, in any order; dims that are left out stay whole. A
    /// number removes its dim (negative numbers count from the end), a range keeps it, the dims of
    /// an index tensor replace it. Numbers and ranges give a view, which shares the elements.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C, K }
    /// let x = tensor!([[1., 2., 3., 4.], [5., 6., 7., 8.]]; N, C);
    /// let row: Tensor<(C,)> = x.at((N.i(-1), C.i(1..3)));
    /// assert_eq!(row.to_vec(), [6.0, 7.0]);
    /// let every_other: Tensor<(N, C)> = x.at((C.i(..).step(2),));
    /// assert_eq!(every_other.to_vec(), [1.0, 3.0, 5.0, 7.0]);
    /// let ids = tensor!([3, 0]; K);
    /// let picked: Tensor<(N, K)> = x.at((C.i(&ids),));
    /// assert_eq!(picked.to_vec(), [4.0, 1.0, 8.0, 5.0]);
    /// ```
    ///
    /// # Errors
    /// If an index is out of range, or a step is zero.
    #[twin]
    pub fn try_at<S: SubscriptsOf<D>>(&self, indices: S) -> Result<Tensor<Part<D, S>, T>> {
        let picks = indices.picks::<D>();
        Tensor::try_from_erased(part(self.erased(), &picks, <Part<D, S>>::STATIC))
    }
}
