//! Operators on neighbouring elements of a dim, which may be split.

use std::panic::Location;

use nomina::dims::{
    Append, Appended, DimOf, DimTuple, Dims, Distinct, Has, OneDim, Resizable, SizeOf, position,
};
use nomina::{DiffOptions, DynTensor, Element, Error, ErrorKind, Result, Scalar, Tensor};
use nomina_core::mesh::{AllFinished, AllLinear, Placement};
use nomina_macros::twin;

use super::along::{Along, from_dyn};
use super::{Sharded, typed};
use crate::split_dim::{Window, pad};

impl<D: Dims + Distinct, P: Placement, T: Element> Sharded<D, P, T> {
    /// Applies a stencil. It gets each rank's part of a dim, extended by `around` elements before and after, which come
    /// from the neighbours or, at the ends, are `fill`. It returns the part without the extension.
    ///
    /// ```
    /// use nomina_mesh::prelude::*;
    /// dims! { X }
    /// mesh! { Line: Data }
    ///
    /// let means = Line::threads([2], |mesh| {
    ///     let x: Sharded<(X,), Line<Split<X>>> = mesh.whole(tensor!([1., 2., 4., 8.]; X)).cut(Data, X);
    ///     let next = x.with_halo(X.via(Data), [1, 1], 0.0, |x| {
    ///         let n = x.size(X) - 2;
    ///         (x.narrow(X, 0..n) + x.narrow(X, 2..)).try_mul(0.5)
    ///     });
    ///     Ok(next.all_gather(Data).to_vec())
    /// })?;
    /// assert_eq!(means[1], [1.0, 2.5, 5.0, 2.0]);
    /// # Ok::<(), nomina::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the stencil fails; [`ErrorKind::Shape`] if it returns other sizes; if memory is missing, or a rank is gone.
    #[twin]
    pub fn try_with_halo<A: Along<P, D>, U: Element>(
        &self,
        dim: A,
        around: [usize; 2],
        fill: impl Into<Scalar>,
        stencil: impl FnOnce(&Tensor<D, T>) -> Result<Tensor<D, U>>,
    ) -> Result<Sharded<D, P, U>>
    where
        P: AllFinished,
        D: Has<A::Dim>,
    {
        let (_, op, at) = (dim, "with_halo", Location::caller());
        let dim = position::<A::Dim, D>();
        let x = self.local.to_dyn();
        let reach = around[0]
            .checked_add(around[1])
            .and_then(|reach| reach.checked_add(1));
        let Some(span) = reach else {
            let what = format!("{around:?} elements around");
            return Err(Error::new(ErrorKind::Argument, op, what));
        };
        let fill = fill.into();
        let window = Window {
            span,
            stride: 1,
            padding: around,
            ceil: false,
        };
        let input = match A::VIA {
            Some(axis) => Some(
                self.split_dim(op, dim, axis, at)
                    .fetch_windows(&x, &window, fill)?,
            ),
            None => None,
        };
        let wide = match &input {
            Some(input) => input.with_neighbours(dim)?,
            None => pad(&x, dim, around, fill)?,
        };
        let found = stencil(&typed(wide.into_parts().0)?)?;
        if found.shape() != self.local.shape() {
            let what = format!(
                "the stencil gave sizes {:?} for a part of {:?}",
                found.shape(),
                self.local.shape()
            );
            return Err(Error::new(ErrorKind::Shape, op, what)
                .hint("it must return the part without the halo"));
        }
        match &input {
            Some(input) => self.mapped(
                op,
                from_dyn(input.own_results(op, found.into_dyn(), dim, &[])?),
            ),
            None => self.mapped(op, Ok(found)),
        }
    }

    /// Returns the differences of neighbours along a dim, which shrinks by one element. `via` a mesh axis, ranks fetch
    /// the first elements of the next part.
    ///
    /// ```
    /// use nomina_mesh::prelude::*;
    /// dims! { T }
    /// mesh! { Line: Data }
    ///
    /// let found = Line::threads([2], |mesh| {
    ///     let x = mesh.whole(tensor!([1., 4., 9., 16.]; T)).cut(Data, T);
    ///     let steps: Sharded<(T,), Line<Split<T>>> = x.diff(T.via(Data));
    ///     assert_eq!(steps.shape(), [3]);
    ///     Ok(steps.all_gather(Data).to_vec())
    /// })?;
    /// assert_eq!(found[0], [3.0, 5.0, 7.0]);
    /// # Ok::<(), nomina::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the number of times is negative, memory is missing, or a rank is gone.
    #[twin(with = "but takes differences `options.n` times.")]
    pub fn try_diff_with<A: Along<P, D>>(&self, dim: A, options: DiffOptions) -> Result<Self>
    where
        P: AllLinear,
        D: Has<A::Dim>,
        A::Dim: DimOf<D>,
        SizeOf<A::Dim>: Resizable<A::Dim>,
    {
        let (_, op, at) = (dim, "diff", Location::caller());
        let (x, dim) = (self.local.to_dyn(), position::<A::Dim, D>());
        let Some(axis) = A::VIA else {
            return self.reduced(op, from_dyn(x.diff_with(dim, options)?));
        };
        let slid = self.split_dim(op, dim, axis, at).diff(&x, options)?;
        self.slid(op, slid, &[self.operand()])
    }

    /// Returns windows of `size` elements that begin `step` apart along a dim; the window is a new last dim. `via` a
    /// mesh axis, each rank fetches the elements under its windows from the other ranks' parts.
    ///
    /// ```
    /// use nomina_mesh::prelude::*;
    /// dims! { T, K }
    /// mesh! { Line: Data }
    ///
    /// let means = Line::threads([2], |mesh| {
    ///     let x: Sharded<(T,), Line<Split<T>>> = mesh.whole(tensor!([1., 2., 3., 4., 8.]; T)).cut(Data, T);
    ///     let windows: Sharded<(T, K), Line<Split<T>>> = x.unfold(T.via(Data), 3, 1, K);
    ///     Ok(windows.mean(K).all_gather(Data).to_vec())
    /// })?;
    /// assert_eq!(means[0], [2.0, 3.0, 5.0]);
    /// # Ok::<(), nomina::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Shape`] if no window fits into the dim, or `step` is 0; if memory is missing, or a rank is gone.
    // On one line, because rustc quotes it in errors.
    #[twin]
    #[rustfmt::skip]
    pub fn try_unfold<A: Along<P, D>, K: OneDim + Append<D>>(&self, dim: A, size: usize, step: usize, window: K) -> Result<Sharded<Appended<D, K>, P, T>>
    where
        P: AllLinear,
        D: Has<A::Dim>,
        A::Dim: DimOf<D>,
        SizeOf<A::Dim>: Resizable<A::Dim>,
        Appended<D, K>: Distinct,
    {
        let (_, op, at) = ((dim, window), "unfold", Location::caller());
        let (x, dim) = (self.local.to_dyn(), position::<A::Dim, D>());
        let name = <Appended<D, K>>::NAMES.last().copied().flatten();
        let Some(axis) = A::VIA else {
            return self.reduced(op, from_dyn(x.unfold(dim, size, step, name)?));
        };
        let slid = self.split_dim(op, dim, axis, at).unfold(&x, size, step, name)?;
        self.slid(op, slid, &[self.operand()])
    }

    /// Rolls the elements along a dim by `shift`, wrapping around. `via` a mesh axis, each rank receives its new
    /// elements from their owners.
    ///
    /// ```
    /// use nomina_mesh::prelude::*;
    /// dims! { T }
    /// mesh! { Line: Data }
    ///
    /// let found = Line::threads([2], |mesh| {
    ///     let x = mesh.whole(tensor!([1., 2., 3., 4.]; T)).cut(Data, T);
    ///     let moved: Sharded<(T,), Line<Split<T>>> = x.roll(1, T.via(Data));
    ///     Ok(moved.local().to_vec())
    /// })?;
    /// assert_eq!(found, [[4.0, 1.0], [2.0, 3.0]]);
    /// # Ok::<(), nomina::Error>(())
    /// ```
    ///
    /// # Errors
    /// If memory is missing, or a rank is gone.
    #[twin]
    pub fn try_roll<A: Along<P, D>>(&self, shift: i64, dim: A) -> Result<Self>
    where
        P: AllLinear,
        D: Has<A::Dim>,
    {
        let (_, op, at) = (dim, "roll", Location::caller());
        let (x, dim) = (self.local.to_dyn(), position::<A::Dim, D>());
        let found: DynTensor = match A::VIA {
            Some(axis) => self.split_dim(op, dim, axis, at).roll(&x, shift)?,
            None => x.roll(&[shift], dim)?,
        };
        self.mapped(op, from_dyn(found))
    }
}
