//! Maxima, minima and sorting along a dim. Indices are global.

use std::panic::Location;

use nomina::dims::{DimOf, Dims, Distinct, Has, Resizable, SizeOf, Without, position};
use nomina::{Real, Result, SortOptions, TopkOptions};
use nomina_core::mesh::{AllFinished, Combine, Placement};
use nomina_core::rule::DimArg;
use nomina_macros::twin;

use super::Sharded;
use super::along::{Along, from_dyn};
use crate::origin::CallSite;

/// A tensor and its elements' indices, both replicated along the axis of `A`.
pub type Found<D, P, A, T> = (
    Sharded<D, <A as super::along::AlongDim>::Whole<P>, T>,
    Sharded<D, <A as super::along::AlongDim>::Whole<P>, i64>,
);

/// [`Found`], with the dim of `A` reduced.
pub type Extremes<D, P, A, T> = Found<Without<D, <A as super::along::AlongDim>::Dim>, P, A, T>;

impl<D: Dims + Distinct, P: Placement, T: Real> Sharded<D, P, T> {
    /// Returns the maximum along a dim and its index: the first index of equal elements, and NaN if there is one. `via`
    /// a mesh axis, values and indices are all-reduced, and each rank has both.
    ///
    /// ```
    /// use nomina_mesh::prelude::*;
    /// dims! { N, C }
    /// mesh! { Line: Model }
    ///
    /// let found = Line::threads([2], |mesh| {
    ///     let x = tensor!([[1., 5., 3.], [7., 2., 9.]]; N, C);
    ///     let x: Sharded<(N, C), Line<Split<C>>> = mesh.whole(x).cut(Model, C);
    ///     let (values, places) = x.max(C.via(Model));
    ///     Ok((values.to_vec(), places.to_vec()))
    /// })?;
    /// assert_eq!(found[1], (vec![5.0, 9.0], vec![1, 2]));
    /// # Ok::<(), nomina::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Index`](nomina::ErrorKind::Index) if the dim has no elements; if memory is missing, or a rank is
    /// gone.
    #[twin]
    pub fn try_max<A: Along<P, D>>(&self, dim: A) -> Result<Extremes<D, P, A, T>>
    where
        P: AllFinished,
        D: Has<A::Dim>,
        Without<D, A::Dim>: Distinct,
    {
        let _ = dim;
        self.extreme::<A>("max", Combine::Max, Location::caller())
    }

    /// Returns the minimum along a dim and its index. Like [`max`](Self::max) otherwise.
    ///
    /// # Errors
    /// [`ErrorKind::Index`](nomina::ErrorKind::Index) if the dim has no elements; if memory is missing, or a rank is
    /// gone.
    #[twin]
    pub fn try_min<A: Along<P, D>>(&self, dim: A) -> Result<Extremes<D, P, A, T>>
    where
        P: AllFinished,
        D: Has<A::Dim>,
        Without<D, A::Dim>: Distinct,
    {
        let _ = dim;
        self.extreme::<A>("min", Combine::Min, Location::caller())
    }

    /// Returns the index of the maximum along a dim. Like [`max`](Self::max) otherwise.
    ///
    /// # Errors
    /// [`ErrorKind::Index`](nomina::ErrorKind::Index) if the dim has no elements; if memory is missing, or a rank is
    /// gone.
    // On one line, because rustc quotes it in errors.
    #[twin]
    #[rustfmt::skip]
    pub fn try_argmax<A: Along<P, D>>(&self, dim: A) -> Result<Sharded<Without<D, A::Dim>, A::Whole<P>, i64>>
    where
        P: AllFinished,
        D: Has<A::Dim>,
        Without<D, A::Dim>: Distinct,
    {
        let _ = dim;
        Ok(self.extreme::<A>("argmax", Combine::Max, Location::caller())?.1)
    }

    /// Returns the index of the minimum along a dim. Like [`max`](Self::max) otherwise.
    ///
    /// # Errors
    /// [`ErrorKind::Index`](nomina::ErrorKind::Index) if the dim has no elements; if memory is missing, or a rank is
    /// gone.
    // On one line, because rustc quotes it in errors.
    #[twin]
    #[rustfmt::skip]
    pub fn try_argmin<A: Along<P, D>>(&self, dim: A) -> Result<Sharded<Without<D, A::Dim>, A::Whole<P>, i64>>
    where
        P: AllFinished,
        D: Has<A::Dim>,
        Without<D, A::Dim>: Distinct,
    {
        let _ = dim;
        Ok(self.extreme::<A>("argmin", Combine::Min, Location::caller())?.1)
    }

    fn extreme<A: Along<P, D>>(
        &self,
        op: &'static str,
        combine: Combine,
        at: CallSite,
    ) -> Result<Extremes<D, P, A, T>>
    where
        D: Has<A::Dim>,
        Without<D, A::Dim>: Distinct,
    {
        let (x, dim) = (self.local.to_dyn(), position::<A::Dim, D>());
        let (values, places) = match (A::VIA, combine) {
            (Some(axis), _) => self.split_dim(op, dim, axis, at).extreme(&x, combine)?,
            (None, Combine::Max) => x.max(DimArg::from_dim(dim))?,
            (None, _) => x.min(DimArg::from_dim(dim))?,
        };
        Ok((
            self.reduced(op, from_dyn(values))?,
            self.reduced(op, from_dyn(places))?,
        ))
    }

    /// Returns the `k`-th smallest element along a dim, counted from 1, and its index: of equal elements, the one that
    /// a stable sort puts there. `via` a mesh axis, all parts are sorted as by [`sort`](Self::sort), and each rank has
    /// the result.
    ///
    /// ```
    /// use nomina_mesh::prelude::*;
    /// dims! { T }
    /// mesh! { Line: Data }
    ///
    /// let found = Line::threads([2], |mesh| {
    ///     let x = mesh.whole(tensor!([5., 4., 2., 1.]; T)).cut(Data, T);
    ///     let (second, place) = x.kthvalue(2, T.via(Data));
    ///     Ok((second.item(), place.item()))
    /// })?;
    /// assert_eq!(found, [(2.0, 2), (2.0, 2)]);
    /// # Ok::<(), nomina::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Index`](nomina::ErrorKind::Index) if there is no such element; if memory is missing, or a rank is
    /// gone.
    #[twin]
    pub fn try_kthvalue<A: Along<P, D>>(&self, k: usize, dim: A) -> Result<Extremes<D, P, A, T>>
    where
        P: AllFinished,
        D: Has<A::Dim>,
        Without<D, A::Dim>: Distinct,
    {
        let (_, op, at) = (dim, "kthvalue", Location::caller());
        let (x, dim) = (self.local.to_dyn(), position::<A::Dim, D>());
        let (values, places) = match A::VIA {
            Some(axis) => self.split_dim(op, dim, axis, at).kthvalue(&x, k)?,
            None => x.kthvalue(i64::try_from(k).unwrap_or(i64::MAX), DimArg::from_dim(dim))?,
        };
        Ok((
            self.reduced(op, from_dyn(values))?,
            self.reduced(op, from_dyn(places))?,
        ))
    }

    /// Returns the lower median along a dim and its index; the first NaN if there is one. `via` a mesh axis, it works
    /// like [`kthvalue`](Self::kthvalue).
    ///
    /// ```
    /// use nomina_mesh::prelude::*;
    /// dims! { N, C }
    /// mesh! { Line: Model }
    ///
    /// let found = Line::threads([2], |mesh| {
    ///     let x = mesh.whole(tensor!([[4., 1., 9., 2., 7.]]; N, C)).cut(Model, C);
    ///     let (value, place): (Sharded<(N,), Line<Whole>>, _) = x.median(C.via(Model));
    ///     Ok((value.to_vec()[0], place.to_vec()[0]))
    /// })?;
    /// assert_eq!(found, [(4.0, 0), (4.0, 0)]);
    /// # Ok::<(), nomina::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Index`](nomina::ErrorKind::Index) if the dim has no elements; if memory is missing, or a rank is
    /// gone.
    #[twin]
    pub fn try_median<A: Along<P, D>>(&self, dim: A) -> Result<Extremes<D, P, A, T>>
    where
        P: AllFinished,
        D: Has<A::Dim>,
        Without<D, A::Dim>: Distinct,
    {
        let (_, op, at) = (dim, "median", Location::caller());
        let (x, dim) = (self.local.to_dyn(), position::<A::Dim, D>());
        let (values, places) = match A::VIA {
            Some(axis) => self.split_dim(op, dim, axis, at).median(&x)?,
            None => x.median(DimArg::from_dim(dim))?,
        };
        Ok((
            self.reduced(op, from_dyn(values))?,
            self.reduced(op, from_dyn(places))?,
        ))
    }

    /// Returns the `k` greatest elements along a dim, in order, and their indices. `via` a mesh axis, each rank sends
    /// the top `k` of its part, and has all of the result.
    ///
    /// ```
    /// use nomina_mesh::prelude::*;
    /// dims! { T }
    /// mesh! { Line: Data }
    ///
    /// let found = Line::threads([2], |mesh| {
    ///     let x = mesh.whole(tensor!([1., 4., 2., 5.]; T)).cut(Data, T);
    ///     let (best, places): (Sharded<(T,), Line<Whole>>, _) = x.topk(2, T.via(Data));
    ///     Ok((best.to_vec(), places.to_vec()))
    /// })?;
    /// assert_eq!(found[0], (vec![5.0, 4.0], vec![3, 1]));
    /// # Ok::<(), nomina::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Index`](nomina::ErrorKind::Index) if `k` is greater than the size of the dim; if memory is missing,
    /// or a rank is gone.
    #[twin(with = "but returns the smallest elements if `options.largest` is false.")]
    pub fn try_topk_with<A: Along<P, D>>(
        &self,
        k: usize,
        dim: A,
        options: TopkOptions,
    ) -> Result<Found<D, P, A, T>>
    where
        P: AllFinished,
        D: Has<A::Dim>,
        A::Dim: DimOf<D>,
        SizeOf<A::Dim>: Resizable<A::Dim>,
    {
        let (_, op, at) = (dim, "topk", Location::caller());
        let (x, dim) = (self.local.to_dyn(), position::<A::Dim, D>());
        let (values, places) = match A::VIA {
            Some(axis) => self.split_dim(op, dim, axis, at).topk(&x, k, options)?,
            None => x.topk_with(i64::try_from(k).unwrap_or(i64::MAX), dim, options)?,
        };
        Ok((
            self.reduced(op, from_dyn(values))?,
            self.reduced(op, from_dyn(places))?,
        ))
    }

    /// Sorts the elements stably along a dim, with NaN as the greatest, and returns their original indices, too. `via`
    /// a mesh axis, the result is split like the operand. The sort takes t (t + 1) / 2 steps for 2^t ranks, and in each
    /// a rank sends its part to at most one other.
    ///
    /// ```
    /// use nomina_mesh::prelude::*;
    /// dims! { T }
    /// mesh! { Line: Data }
    ///
    /// let found = Line::threads([2], |mesh| {
    ///     let x = mesh.whole(tensor!([5., 4., 2., 1.]; T)).cut(Data, T);
    ///     let (sorted, places) = x.sort(T.via(Data));
    ///     Ok((sorted.local().to_vec(), places.local().to_vec()))
    /// })?;
    /// assert_eq!(found[0], (vec![1.0, 2.0], vec![3, 2]));
    /// assert_eq!(found[1], (vec![4.0, 5.0], vec![1, 0]));
    /// # Ok::<(), nomina::Error>(())
    /// ```
    ///
    /// # Errors
    /// If memory is missing, or a rank is gone.
    #[twin(with = "but in descending order if `options.descending` is set.")]
    pub fn try_sort_with<A: Along<P, D>>(
        &self,
        dim: A,
        options: SortOptions,
    ) -> Result<(Self, Sharded<D, P, i64>)>
    where
        P: AllFinished,
        D: Has<A::Dim>,
    {
        let _ = dim;
        self.sorted::<A>("sort", options, Location::caller())
    }

    /// Returns the original indices of the sorted elements along a dim, like [`sort`](Self::sort).
    ///
    /// # Errors
    /// If memory is missing, or a rank is gone.
    #[twin(with = "but in descending order if `options.descending` is set.")]
    pub fn try_argsort_with<A: Along<P, D>>(
        &self,
        dim: A,
        options: SortOptions,
    ) -> Result<Sharded<D, P, i64>>
    where
        P: AllFinished,
        D: Has<A::Dim>,
    {
        let (_, at) = (dim, Location::caller());
        Ok(self.detach().sorted::<A>("argsort", options, at)?.1)
    }

    fn sorted<A: Along<P, D>>(
        &self,
        op: &'static str,
        options: SortOptions,
        at: CallSite,
    ) -> Result<(Self, Sharded<D, P, i64>)>
    where
        D: Has<A::Dim>,
    {
        let (x, dim) = (self.local.to_dyn(), position::<A::Dim, D>());
        let (values, places) = match A::VIA {
            Some(axis) => self.split_dim(op, dim, axis, at).sort(&x, options)?,
            None => x.sort_with(dim, options)?,
        };
        Ok((
            self.mapped(op, from_dyn(values))?,
            self.mapped(op, from_dyn(places))?,
        ))
    }
}
