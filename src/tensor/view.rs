//! Views of one dim: parts, slices, new and removed dims.
//!
//! [`Tensor::narrow`], [`Tensor::select`], [`Tensor::unbind`], [`Tensor::split`],
//! [`Tensor::squeeze`], [`Tensor::unsqueeze`], [`Tensor::expand`].

use std::ops::RangeBounds;

use nomina_core::dims::{
    DimOf, Dims, Expand, Expanded, Insert, Inserted, OneDim, Resizable, SizeOf, Without, position,
};
use nomina_core::{Element, Result};
use nomina_macros::twin;

use super::Tensor;
use crate::erased::Known;
use crate::erased::view::{self, ends};

/// An integer index along a dim; negative from the end.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a whole number",
    label = "expected a whole number",
    note = "for a range: `x.narrow(C, 0..2)`"
)]
pub trait Whole: Copy {
    #[doc(hidden)]
    fn whole(self) -> i64;
}

/// The sizes of [`Tensor::split`]: one size, or a list of sizes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say how to split",
    label = "expected the size of each part, or a list of sizes such as `[1, 2]`"
)]
pub trait SplitSizes {
    #[doc(hidden)]
    fn pieces(&self) -> Pieces<'_>;
}

/// One size, or the size of each piece.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub enum Pieces<'a> {
    /// The size of every piece; the last may be smaller.
    Equal(usize),
    /// The sizes of the pieces, in order.
    Listed(&'a [usize]),
}

/// # Parts along a dim
impl<D: Dims, T: Element> Tensor<D, T> {
    /// Returns a range of a dim.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C }
    /// let x = tensor!([[1., 2., 3., 4.]]; N, C);
    /// assert_eq!(x.narrow(C, 1..3).to_vec(), [2.0, 3.0]);
    /// assert_eq!(x.narrow(C, ..1).to_vec(), [1.0]);
    /// ```
    ///
    /// # Errors
    /// If the range exceeds the dim or is reversed.
    #[twin]
    pub fn try_narrow<X: DimOf<D>>(&self, dim: X, range: impl RangeBounds<usize>) -> Result<Self>
    where
        SizeOf<X>: Resizable<X>,
    {
        let _ = dim;
        let at = position::<X, D>();
        Self::try_from_erased(view::range(
            self.erased.erased(D::STATIC),
            at,
            ends(range, self.shape()[at]),
        ))
    }

    /// Returns the slice at one index of a dim; a negative index counts from the end.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C }
    /// let x = tensor!([[1., 2.], [3., 4.]]; N, C);
    /// let row: Tensor<(C,)> = x.select(N, -1);
    /// assert_eq!(row.to_vec(), [3.0, 4.0]);
    /// ```
    ///
    /// # Errors
    /// If the index is out of range.
    #[twin]
    pub fn try_select<X: DimOf<D>>(
        &self,
        dim: X,
        index: impl Whole,
    ) -> Result<Tensor<Without<D, X>, T>> {
        let _ = dim;
        let out = <Without<D, X>>::STATIC;
        Tensor::try_from_erased(view::select(
            self.erased.erased(D::STATIC),
            position::<X, D>(),
            index.whole(),
            out,
        ))
    }

    /// Returns all slices along a dim.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C }
    /// let x = tensor!([[1., 2.], [3., 4.]]; N, C);
    /// let sums: Vec<f32> = x.unbind(N).iter().map(|row| row.sum(C).item()).collect();
    /// assert_eq!(sums, [3.0, 7.0]);
    /// ```
    ///
    /// # Errors
    /// If names clash that only the run time knows.
    #[twin]
    pub fn try_unbind<X: DimOf<D>>(&self, dim: X) -> Result<Vec<Tensor<Without<D, X>, T>>> {
        let _ = dim;
        let all = view::unbind(
            self.erased.erased(D::STATIC),
            position::<X, D>(),
            <Without<D, X>>::STATIC,
        );
        Tensor::all_from_erased(all?)
    }

    /// Splits a dim into pieces of one size, where the last may be smaller, or of a list of sizes.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N }
    /// let x = tensor!([1., 2., 3., 4., 5.]; N);
    /// assert_eq!(x.split(N, 2).len(), 3);
    /// assert_eq!(x.split(N, [1, 4])[1].to_vec(), [2.0, 3.0, 4.0, 5.0]);
    /// ```
    ///
    /// # Errors
    /// If the sizes do not add up to the dim's.
    #[twin]
    pub fn try_split<X: DimOf<D>>(&self, dim: X, sizes: impl SplitSizes) -> Result<Vec<Self>>
    where
        SizeOf<X>: Resizable<X>,
    {
        let _ = dim;
        let at = position::<X, D>();
        let pieces = match sizes.pieces() {
            Pieces::Equal(size) => view::split(self.erased.erased(D::STATIC), at, size),
            Pieces::Listed(sizes) => view::split_sizes(self.erased.erased(D::STATIC), at, sizes),
        };
        Self::all_from_erased(pieces?)
    }

    /// Removes a dim of size 1.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C }
    /// let x = tensor!([[1., 2.]]; N, C);
    /// assert_eq!(x.squeeze(N).shape(), [2]);
    /// ```
    ///
    /// # Errors
    /// If the dim has another size. `DynTensor::squeeze` keeps such a dim, as PyTorch does.
    #[twin]
    pub fn try_squeeze<X: DimOf<D>>(&self, dim: X) -> Result<Tensor<Without<D, X>, T>> {
        let _ = dim;
        Tensor::try_from_erased(view::squeeze(
            self.erased.erased(D::STATIC),
            position::<X, D>(),
            <Without<D, X>>::STATIC,
        ))
    }

    /// Inserts a first dim of size 1.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C }
    /// let x: Tensor<(N, C)> = tensor!([1., 2.]; C).unsqueeze(N);
    /// assert_eq!(x.shape(), [1, 2]);
    /// ```
    ///
    /// # Errors
    /// If a `Wild` dim has the new dim's name at run time.
    #[twin]
    pub fn try_unsqueeze<X: OneDim + Insert<D>>(
        &self,
        dim: X,
    ) -> Result<Tensor<Inserted<D, X>, T>> {
        let _ = dim;
        Tensor::try_from_erased(view::unsqueeze(
            self.erased.erased(D::STATIC),
            <Inserted<D, X>>::STATIC,
        ))
    }

    /// Repeats dims of size 1 and adds dims on the left, without a copy: to dims with sizes, or
    /// with one size for each of these dims.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C }
    /// let x = tensor!([1., 2.]; C).expand((N.of(3), C.of(2)));
    /// assert_eq!(x.sum(N).to_vec(), [3.0, 6.0]);
    /// assert_eq!(tensor!([[1., 2.]]; N, C).expand([3, 2]).sum(N).to_vec(), [3.0, 6.0]);
    /// ```
    ///
    /// # Errors
    /// If a dim of another size than 1 would change.
    #[twin]
    pub fn try_expand<S: Expand<D>>(&self, sizes: S) -> Result<Tensor<Expanded<D, S>, T>> {
        let out = <Expanded<D, S>>::STATIC;
        Tensor::try_from_erased(view::expand(
            self.erased.erased(D::STATIC),
            &sizes.new_sizes(),
            out,
        ))
    }
}

macro_rules! whole {
    ($($t:ty)*) => {$(
        #[diagnostic::do_not_recommend]
        impl Whole for $t {
            fn whole(self) -> i64 {
                // A number beyond `i64` is out of the range of every dim.
                i64::try_from(self).unwrap_or(i64::MAX)
            }
        }
    )*};
}
whole!(i32 i64 isize usize u8 u16 u32 u64 i8 i16);

#[diagnostic::do_not_recommend]
impl SplitSizes for usize {
    fn pieces(&self) -> Pieces<'_> {
        Pieces::Equal(*self)
    }
}

#[diagnostic::do_not_recommend]
impl<const K: usize> SplitSizes for [usize; K] {
    fn pieces(&self) -> Pieces<'_> {
        Pieces::Listed(self)
    }
}

#[diagnostic::do_not_recommend]
impl SplitSizes for &[usize] {
    fn pieces(&self) -> Pieces<'_> {
        Pieces::Listed(self)
    }
}
