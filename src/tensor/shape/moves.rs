//! Order, direction, repetition and pieces.
//!
//! [`Tensor::flip`], [`Tensor::rot90`], [`Tensor::roll`], [`Tensor::repeat`], [`Tensor::tile`],
//! [`Tensor::repeat_interleave`], [`Tensor::ravel`], [`Tensor::chunk`], [`Tensor::tensor_split`],
//! [`Tensor::unfold`], [`Tensor::expand_as`].

use nomina_core::dims::{
    Append, Appended, AxesOf, DimOf, Dims, ExpandInto, OneDim, Resizable, SizeOf, Transposed,
    position, positions,
};
use nomina_core::rule::DimArg;
use nomina_core::{Element, Result};
use nomina_macros::twin;

use super::{Interleave, Repeats, Sections, Shifts, count_of};
use crate::erased::{Known, shape, view};
use crate::tensor::Tensor;

/// # Rolled, flipped, rotated
impl<D: Dims, T: Element> Tensor<D, T> {
    /// Reverses the elements along dims; `..` for all.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C }
    /// let x = tensor!([[1., 2., 3.], [4., 5., 6.]]; N, C);
    /// assert_eq!(x.flip(C).to_vec(), [3.0, 2.0, 1.0, 6.0, 5.0, 4.0]);
    /// assert_eq!(x.roll(1, C).to_vec(), [3.0, 1.0, 2.0, 6.0, 4.0, 5.0]);
    /// assert_eq!(x.rot90(N, C).to_vec(), [3.0, 6.0, 2.0, 5.0, 1.0, 4.0]);
    /// ```
    ///
    /// # Errors
    /// If memory runs out.
    #[twin]
    pub fn try_flip<A: AxesOf<D>>(&self, dims: A) -> Result<Self> {
        let _ = dims;
        let dims = positions::<A, D>();
        Self::try_from_erased(shape::same(self.erased(), D::STATIC, |x| x.flip(dims)))
    }

    /// Rotates the plane of two dims by a quarter, from the first towards the second: they are
    /// swapped. Two quarters are `x.flip((N, C))`, the opposite direction is `x.rot90(C, N)`.
    ///
    /// # Errors
    /// If both are the same dim, or memory runs out.
    #[twin]
    pub fn try_rot90<X: DimOf<D>, Y: DimOf<D>>(
        &self,
        dim0: X,
        dim1: Y,
    ) -> Result<Tensor<Transposed<D, X, Y>, T>> {
        let dims = [position::<X, D>(), position::<Y, D>()];
        let _ = (dim0, dim1);
        let out = <Transposed<D, X, Y>>::STATIC;
        Tensor::try_from_erased(shape::same(self.erased(), out, |x| x.rot90(dims)))
    }

    /// Shifts elements cyclically along dims; a negative shift moves them to the front. One shift
    /// per dim: `x.roll(1, C)`, `x.roll([1, -2], (N, C))`; `..` shifts all elements in row-major
    /// order, regardless of dims.
    ///
    /// # Errors
    /// If there is not one shift per dim, or memory runs out.
    #[twin]
    pub fn try_roll<A: AxesOf<D>>(&self, shifts: impl Shifts, dims: A) -> Result<Self> {
        let _ = dims;
        let dims = if A::ALL {
            DimArg::all()
        } else {
            positions::<A, D>().into()
        };
        let shifts = shifts.shifts();
        Self::try_from_erased(shape::same(self.erased(), D::STATIC, |x| {
            x.roll(&shifts, dims.clone())
        }))
    }

    /// Repeats everything: by name, `x.repeat((N.of(2), C.of(3)))`, where other dims stay
    /// unchanged, or with one count per dim in order, `x.repeat([2, 3])`.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C }
    /// let x = tensor!([[1., 2.]]; N, C);
    /// assert_eq!(x.repeat(C.of(2)).to_vec(), [1.0, 2.0, 1.0, 2.0]);
    /// assert_eq!(x.repeat((N.of(3), C.of(2))).shape(), [3, 4]);
    /// assert_eq!(x.repeat_interleave(2, C).to_vec(), [1.0, 1.0, 2.0, 2.0]);
    /// ```
    ///
    /// # Errors
    /// If sizes overflow, or memory runs out.
    #[twin]
    pub fn try_repeat<R: Repeats<D>>(&self, counts: R) -> Result<Self> {
        let mut all = [1; 8];
        counts.counts(&mut all[..D::RANK]);
        Self::try_from_erased(shape::repeat(self.erased(), &all[..D::RANK]))
    }

    /// Like [`repeat`](Self::repeat): in types, there is always one count per dim.
    ///
    /// # Errors
    /// If sizes overflow, or memory runs out.
    #[twin]
    pub fn try_tile<R: Repeats<D>>(&self, counts: R) -> Result<Self> {
        self.try_repeat(counts).map_err(|e| e.in_op("tile"))
    }

    /// Repeats each element of a dim, by one count (`2`) or by a tensor of counts.
    ///
    /// # Errors
    /// If counts are negative, or not one per element.
    #[twin]
    pub fn try_repeat_interleave<X: DimOf<D>>(
        &self,
        repeats: impl Interleave,
        dim: X,
    ) -> Result<Self>
    where
        SizeOf<X>: Resizable<X>,
    {
        let _ = dim;
        let at = position::<X, D>() as i64;
        Self::try_from_erased(repeats.with(|counts| {
            let operands: Vec<_> = std::iter::once(self.erased()).chain(counts.ok()).collect();
            crate::erased::compose::call_for_tensor(&operands, D::STATIC, |x| match (x, counts) {
                ([x, counts], _) => x.repeat_interleave(counts, at),
                (_, Err(count)) => x[0].repeat_interleave(count, at),
                _ => Ok(x[0].clone()),
            })
        }))
    }

    /// Returns all elements in row-major order, in one dim.
    ///
    /// # Errors
    /// If the new dim has a constant size that is not the one it gets.
    #[twin]
    pub fn try_ravel<X: OneDim>(&self, to: X) -> Result<Tensor<(X,), T>> {
        let _ = to;
        let out = <(X,)>::STATIC;
        Tensor::try_from_erased(shape::sized("ravel", &[self.erased()], out, &[0], |x| {
            x[0].flatten(.., None)
        }))
    }

    /// Splits a dim into at most `chunks` pieces of equal size; the last may be smaller.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N }
    /// let x = tensor!([1., 2., 3., 4., 5.]; N);
    /// let sizes = |pieces: Vec<Tensor<(N,)>>| pieces.iter().map(|p| p.size(N)).collect::<Vec<_>>();
    /// assert_eq!(sizes(x.chunk(N, 2)), [3, 2]);
    /// assert_eq!(sizes(x.tensor_split(N, 4)), [2, 1, 1, 1]);
    /// assert_eq!(sizes(x.tensor_split(N, [1, -1])), [1, 3, 1]);
    /// ```
    ///
    /// # Errors
    /// If `chunks` is 0.
    #[twin]
    pub fn try_chunk<X: DimOf<D>>(&self, dim: X, chunks: usize) -> Result<Vec<Self>>
    where
        SizeOf<X>: Resizable<X>,
    {
        let _ = dim;
        let at = position::<X, D>();
        let pieces = shape::pieces(self.erased(), at, |size| {
            nomina_runtime::call::chunks("chunk", size, count_of(chunks))
        });
        Self::all_from_erased(pieces?)
    }

    /// Splits a dim into a number of pieces whose sizes differ by at most one (`3`), or before
    /// indices (`[1, -1]`), which may count from the end.
    ///
    /// # Errors
    /// If the number of pieces is not at least 1.
    #[twin]
    pub fn try_tensor_split<X: DimOf<D>>(
        &self,
        dim: X,
        sections: impl Sections,
    ) -> Result<Vec<Self>>
    where
        SizeOf<X>: Resizable<X>,
    {
        let _ = dim;
        let at = position::<X, D>();
        let pieces = shape::pieces(self.erased(), at, |size| sections.ranges(size));
        Self::all_from_erased(pieces?)
    }

    /// Returns windows of `size` elements that begin `step` apart along a dim, without a copy; the
    /// dim within a window is last.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { T, K }
    /// let x = tensor!([1., 2., 3., 4.]; T);
    /// let means: Tensor<(T,)> = x.unfold(T, 3, 1, K).mean(K);
    /// assert_eq!(means.to_vec(), [2.0, 3.0]);
    /// ```
    ///
    /// # Errors
    /// If a window does not fit into the dim, or `step` is 0.
    #[twin]
    pub fn try_unfold<X: DimOf<D>, K: OneDim + Append<D>>(
        &self,
        dim: X,
        size: usize,
        step: usize,
        window: K,
    ) -> Result<Tensor<Appended<D, K>, T>>
    where
        SizeOf<X>: Resizable<X>,
    {
        let _ = (dim, window);
        let (at, out) = (position::<X, D>() as i64, <Appended<D, K>>::STATIC);
        Tensor::try_from_erased(shape::sized(
            "unfold",
            &[self.erased()],
            out,
            &[D::RANK],
            |x| x[0].unfold(at, size, step, K::NAME),
        ))
    }

    /// Repeats dims of size 1 and adds dims on the left, to the dims and sizes of another tensor,
    /// without a copy.
    ///
    /// # Errors
    /// If a dim of another size than 1 would change.
    #[twin]
    pub fn try_expand_as<E: Dims, U: Element>(&self, other: &Tensor<E, U>) -> Result<Tensor<E, T>>
    where
        D: ExpandInto<E>,
    {
        Tensor::try_from_erased(view::expand_as(self.erased(), other.erased()))
    }
}
