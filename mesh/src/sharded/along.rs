//! Operators that need all of a dim, on each rank or by communication.

use std::marker::PhantomData;

use nomina::dims::{Accepted, Axes, AxesOf, Dim, DimOf, Dims, Distinct, Has, Without, position};
use nomina::{DynTensor, Element, Float, Numeric, Real, Result, Tensor};
use nomina_core::mesh::{
    AllFinished, AllLinear, BySum, Combine, Combiner, HasEveryVerdict, MeshAxis, Over, PendingOver,
    Placement, Reduced, Set, Split, SplitsBy, Verdict, ViaOfSumOver, Whole,
};
use nomina_macros::twin;

use super::{Sharded, axis_index, typed};
use crate::origin::CallSite;
use crate::split_dim::{Scan, SplitDim};

/// A split dim and the mesh axis over which an operator communicates to see all of it. Created by [`ViaAxis::via`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Via<N, X>(PhantomData<(N, X)>);

/// The method [`via`](ViaAxis::via), for every dim.
pub trait ViaAxis: Dim {
    /// Names the mesh axis that splits this dim, for an operator that communicates over it:
    /// `x.softmax(Vocab.via(Model))`.
    fn via<X: MeshAxis>(self, axis: X) -> Via<Self, X> {
        let _ = axis;
        Via(PhantomData)
    }
}
impl<N: Dim> ViaAxis for N {}

/// A dim, or a dim [`via`](ViaAxis::via) the mesh axis that splits it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a dim",
    label = "expected a dim, or a dim `via` its mesh axis"
)]
pub trait AlongDim {
    /// The dim.
    type Dim: Dim;
    /// The verdict on the dim in placement `P`.
    #[doc(hidden)]
    type DimVerdict<P: Placement>: Verdict;
    /// The placement of a result that is replicated along the axis.
    type Whole<P: Placement>: Placement<Mesh = P::Mesh>;
    /// The placement of a vector with one number for each index of the dim: split like the dim, and whole along other
    /// axes.
    type Classes<P: Placement>: Placement<Mesh = P::Mesh>;
    /// The mesh axis that splits the dim, if one does.
    const VIA: Option<usize>;
}
#[diagnostic::do_not_recommend]
impl<N: Dim> AlongDim for N {
    type Dim = N;
    type DimVerdict<P: Placement> = HasEveryVerdict<P, (N,)>;
    type Whole<P: Placement> = PendingOver<P, (), BySum>;
    type Classes<P: Placement> = P::Mesh;
    const VIA: Option<usize> = None;
}
#[diagnostic::do_not_recommend]
impl<N: Dim, X: MeshAxis> AlongDim for Via<N, X> {
    type Dim = N;
    type DimVerdict<P: Placement> = SplitsBy<P, X, N>;
    type Whole<P: Placement> = Set<P, X, Whole>;
    type Classes<P: Placement> = Set<P::Mesh, X, Split<N>>;
    const VIA: Option<usize> = Some(axis_index::<X>());
}

/// The argument of an operator along a dim: a dim that each rank has all of, or [`via`](ViaAxis::via) the axis that
/// splits it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not fit placement `{P}`",
    label = "expected a dim, or a dim `via` its mesh axis"
)]
pub trait Along<P, D>: AlongDim<Dim: DimOf<D>> {}
impl<A: AlongDim<Dim: DimOf<D>>, P: Placement, D> Along<P, D> for A where
    A::DimVerdict<P>: Accepted<P, P>
{
}

/// In a product: the parts of the second factor travel around the axis that splits them; the first factor has all of
/// the dim.
#[diagnostic::do_not_recommend]
impl<N: Dim + Axes, X: MeshAxis> Over for Via<N, X> {
    type Axes = N;
    type Placed<P: Placement, D: Dims, R: Combiner> = PendingOver<P, (), R>;
    type Reduces<P: Placement, D: Dims> = ViaOfSumOver<X, N>;
    type Sums<P: Placement, Q: Placement> =
        <SplitsBy<Q, X, N> as Verdict>::Then<<N as Over>::Reduces<P, (N,)>>;
    type Met<Q: Placement> = Set<Q, X, Whole>;
    fn axes(self) -> N {
        N::default()
    }
    const ACROSS: bool = false;
    const VIA: Option<usize> = Some(axis_index::<X>());
}

/// The dims of a reduction: dims that each rank has all of, or a dim [`via`](ViaAxis::via) the mesh axis that splits
/// it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a dim",
    label = "expected a dim, a tuple of dims, `..`, or a dim `via` its mesh axis"
)]
pub trait ReduceDims {
    /// The dims.
    type Axes: Axes;
    /// The verdict on the dims for a tensor of dims `D` in placement `P`.
    #[doc(hidden)]
    type DimsVerdict<P: Placement, D: Dims>: Verdict;
    /// The placement of the result.
    type Whole<P: Placement>: Placement<Mesh = P::Mesh>;
    /// The mesh axis that splits the dim, if one does.
    const VIA: Option<usize>;
    /// Returns the dims.
    fn axes(self) -> Self::Axes;
}
#[diagnostic::do_not_recommend]
impl<A: Axes> ReduceDims for A {
    type Axes = A;
    type DimsVerdict<P: Placement, D: Dims> = HasEveryVerdict<P, Reduced<D, A::List>>;
    type Whole<P: Placement> = PendingOver<P, (), BySum>;
    const VIA: Option<usize> = None;
    fn axes(self) -> A {
        self
    }
}
#[diagnostic::do_not_recommend]
impl<N: Dim + Axes, X: MeshAxis> ReduceDims for Via<N, X> {
    type Axes = N;
    type DimsVerdict<P: Placement, D: Dims> = SplitsBy<P, X, N>;
    type Whole<P: Placement> = Set<P, X, Whole>;
    const VIA: Option<usize> = Some(axis_index::<X>());
    fn axes(self) -> N {
        N::default()
    }
}

/// The argument of a reduction that must see all of its dims: dims that each rank has all of, or one
/// [`via`](ViaAxis::via) the axis that splits it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not fit placement `{P}`",
    label = "expected a dim, a tuple of dims, `..`, or a dim `via` its mesh axis"
)]
pub trait Reducing<P, D>: ReduceDims<Axes: AxesOf<D>> {}
impl<A: ReduceDims<Axes: AxesOf<D>>, P: Placement, D: Dims> Reducing<P, D> for A where
    A::DimsVerdict<P, D>: Accepted<P, P>
{
}

impl<D: Dims, P: Placement, T: Element> Sharded<D, P, T> {
    /// Returns the metadata for an operator along a split dim.
    pub(crate) fn split_dim(
        &self,
        op: &'static str,
        dim: usize,
        axis: usize,
        at: CallSite,
    ) -> SplitDim {
        SplitDim {
            metadata: self.metadata(),
            op,
            dim,
            axis,
            at,
        }
    }
}

/// Adds the dims of the type to a piece.
pub(crate) fn from_dyn<D: Dims + Distinct, T: Element>(x: DynTensor) -> Result<Tensor<D, T>> {
    typed(x.into_parts().0)
}

impl<D: Dims + Distinct, P: Placement, T: Element> Sharded<D, P, T> {
    /// Computes the softmax along a dim. `via` a mesh axis, the maximum and the sum of exponentials of each row are
    /// exchanged.
    ///
    /// ```
    /// use nomina_mesh::prelude::*;
    /// dims! { T }
    /// mesh! { Line: Data }
    ///
    /// let found = Line::threads([2], |mesh| {
    ///     let x = mesh.whole(tensor!([0., 0., 0., 0.]; T)).cut(Data, T);
    ///     let shares: Sharded<(T,), Line<Split<T>>> = x.softmax(T.via(Data));
    ///     Ok(shares.all_gather(Data).to_vec())
    /// })?;
    /// assert_eq!(found[0], [0.25; 4]);
    /// # Ok::<(), nomina::Error>(())
    /// ```
    ///
    /// # Errors
    /// If memory is missing, or a rank is gone.
    #[twin]
    pub fn try_softmax<A: Along<P, D>>(&self, dim: A) -> Result<Self>
    where
        T: Float,
        P: AllFinished,
        D: Has<A::Dim>,
    {
        let (_, at) = (dim, std::panic::Location::caller());
        let Some(axis) = A::VIA else {
            return self.mapped("softmax", self.local.try_softmax(A::Dim::default()));
        };
        let split_dim = self.split_dim("softmax", position::<A::Dim, D>(), axis, at);
        self.mapped(
            "softmax",
            from_dyn(split_dim.softmax(&self.local.to_dyn())?),
        )
    }

    /// Computes the logarithm of the softmax along a dim. Like [`softmax`](Self::softmax) otherwise.
    ///
    /// # Errors
    /// If memory is missing, or a rank is gone.
    #[twin]
    pub fn try_log_softmax<A: Along<P, D>>(&self, dim: A) -> Result<Self>
    where
        T: Float,
        P: AllFinished,
        D: Has<A::Dim>,
    {
        let (_, at) = (dim, std::panic::Location::caller());
        let Some(axis) = A::VIA else {
            return self.mapped("log_softmax", self.local.try_log_softmax(A::Dim::default()));
        };
        let split_dim = self.split_dim("log_softmax", position::<A::Dim, D>(), axis, at);
        self.mapped(
            "log_softmax",
            from_dyn(split_dim.log_softmax(&self.local.to_dyn())?),
        )
    }

    /// Normalizes the elements along a dim: subtracts their mean and divides by their standard deviation (uncorrected,
    /// with `eps` in the root). `via` a mesh axis, sums and squares of each row are exchanged. To apply a weight and a
    /// bias, use `*` and `+`.
    ///
    /// ```
    /// use nomina_mesh::prelude::*;
    /// dims! { T }
    /// mesh! { Line: Data }
    ///
    /// let found = Line::threads([2], |mesh| {
    ///     let x = mesh.whole(tensor!([1., 3., 1., 3.]; T)).cut(Data, T);
    ///     let y: Sharded<(T,), Line<Split<T>>> = x.layer_norm(T.via(Data), 0.0);
    ///     Ok(y.all_gather(Data).to_vec())
    /// })?;
    /// assert_eq!(found[0], [-1.0, 1.0, -1.0, 1.0]);
    /// # Ok::<(), nomina::Error>(())
    /// ```
    ///
    /// # Errors
    /// If memory is missing, or a rank is gone.
    #[twin]
    pub fn try_layer_norm<A: Along<P, D>>(&self, dim: A, eps: f64) -> Result<Self>
    where
        T: Float,
        P: AllFinished,
        D: Has<A::Dim>,
    {
        let (_, at) = (dim, std::panic::Location::caller());
        let (x, dim) = (self.local.to_dyn(), position::<A::Dim, D>());
        let Some(axis) = A::VIA else {
            let options = nomina::dynamic::LayerNormOptions {
                weight: None,
                bias: None,
                eps,
            };
            return self.mapped("layer_norm", from_dyn(x.layer_norm_with(dim, options)?));
        };
        let split_dim = self.split_dim("layer_norm", dim, axis, at);
        self.mapped("layer_norm", from_dyn(split_dim.layer_norm(&x, eps)?))
    }

    /// Computes the logarithm of the sum of exponentials over dims, or over one `via` the mesh axis that splits it:
    /// then the maximum and the sum of each row are exchanged, and each rank has the result.
    ///
    /// ```
    /// use nomina_mesh::prelude::*;
    /// dims! { T }
    /// mesh! { Line: Data }
    ///
    /// let found = Line::threads([2], |mesh| {
    ///     let x = mesh.whole(tensor!([0., 0., 0., 0.]; T)).cut(Data, T);
    ///     let sum: Sharded<(), Line<Whole>> = x.logsumexp(T.via(Data));
    ///     Ok(sum.item())
    /// })?;
    /// assert!((found[0] - 4_f32.ln()).abs() < 1e-6);
    /// # Ok::<(), nomina::Error>(())
    /// ```
    ///
    /// # Errors
    /// If memory is missing, or a rank is gone.
    // On one line, because rustc quotes it in errors.
    #[twin]
    #[rustfmt::skip]
    pub fn try_logsumexp<A: Reducing<P, D>>(&self, dims: A) -> Result<Sharded<Without<D, A::Axes>, A::Whole<P>, T>>
    where
        T: Float,
        P: AllFinished,
        Without<D, A::Axes>: Distinct,
    {
        let at = std::panic::Location::caller();
        let Some(axis) = A::VIA else {
            return self.reduced("logsumexp", self.local.try_logsumexp(dims.axes()));
        };
        let split_dim = self.split_dim("logsumexp", first::<A::Axes, D>(), axis, at);
        let found = split_dim.logsumexp(&self.local.to_dyn())?.squeeze(split_dim.dim)?;
        self.reduced("logsumexp", from_dyn(found))
    }

    /// Computes the running sum along a dim. `via` a mesh axis, the ranks' totals are exchanged.
    ///
    /// ```
    /// use nomina_mesh::prelude::*;
    /// dims! { T }
    /// mesh! { Line: Data }
    ///
    /// let found = Line::threads([2], |mesh| {
    ///     let x = mesh.whole(tensor!([1., 2., 3., 4.]; T)).cut(Data, T);
    ///     let sums: Sharded<(T,), Line<Split<T>>> = x.cumsum(T.via(Data));
    ///     Ok(sums.local().to_vec())
    /// })?;
    /// assert_eq!(found, [[1.0, 3.0], [6.0, 10.0]]);
    /// # Ok::<(), nomina::Error>(())
    /// ```
    ///
    /// # Errors
    /// If memory is missing, or a rank is gone.
    #[twin]
    pub fn try_cumsum<A: Along<P, D>>(&self, dim: A) -> Result<Sharded<D, P, T::Sum>>
    where
        T: Numeric,
        P: AllLinear,
        D: Has<A::Dim>,
    {
        let (_, at) = (dim, std::panic::Location::caller());
        let Some(axis) = A::VIA else {
            return self.mapped("cumsum", self.local.try_cumsum(A::Dim::default()));
        };
        let split_dim = self.split_dim("cumsum", position::<A::Dim, D>(), axis, at);
        self.mapped("cumsum", from_dyn(split_dim.cumsum(&self.local.to_dyn())?))
    }

    /// Computes the running product along a dim. `via` a mesh axis, the product of each rank's part is sent to all
    /// others.
    ///
    /// ```
    /// use nomina_mesh::prelude::*;
    /// dims! { T }
    /// mesh! { Line: Data }
    ///
    /// let found = Line::threads([2], |mesh| {
    ///     let x = mesh.whole(tensor!([1., 2., 3., 4.]; T)).cut(Data, T);
    ///     let products: Sharded<(T,), Line<Split<T>>> = x.cumprod(T.via(Data));
    ///     Ok(products.local().to_vec())
    /// })?;
    /// assert_eq!(found, [[1.0, 2.0], [6.0, 24.0]]);
    /// # Ok::<(), nomina::Error>(())
    /// ```
    ///
    /// # Errors
    /// If memory is missing, or a rank is gone.
    #[twin]
    pub fn try_cumprod<A: Along<P, D>>(&self, dim: A) -> Result<Sharded<D, P, T::Sum>>
    where
        T: Numeric,
        P: AllFinished,
        D: Has<A::Dim>,
    {
        let (_, at) = (dim, std::panic::Location::caller());
        let Some(axis) = A::VIA else {
            return self.mapped("cumprod", self.local.try_cumprod(A::Dim::default()));
        };
        let split_dim = self.split_dim("cumprod", position::<A::Dim, D>(), axis, at);
        self.mapped(
            "cumprod",
            from_dyn(split_dim.scan(&self.local.to_dyn(), Scan::Prod)?),
        )
    }

    /// Computes the logarithm of the running sum of exponentials along a dim, without overflow. `via` a mesh axis, the
    /// result of each rank's part is sent to all others.
    ///
    /// ```
    /// use nomina_mesh::prelude::*;
    /// dims! { T }
    /// mesh! { Line: Data }
    ///
    /// let found = Line::threads([2], |mesh| {
    ///     let x = mesh.whole(tensor!([0., 0., 0., 0.]; T)).cut(Data, T);
    ///     let sums: Sharded<(T,), Line<Split<T>>> = x.logcumsumexp(T.via(Data));
    ///     Ok(sums.exp().local().to_vec())
    /// })?;
    /// assert!((found[1][1] - 4.0).abs() < 1e-6);
    /// # Ok::<(), nomina::Error>(())
    /// ```
    ///
    /// # Errors
    /// If memory is missing, or a rank is gone.
    #[twin]
    pub fn try_logcumsumexp<A: Along<P, D>>(&self, dim: A) -> Result<Self>
    where
        T: Float,
        P: AllFinished,
        D: Has<A::Dim>,
    {
        let (_, at) = (dim, std::panic::Location::caller());
        let Some(axis) = A::VIA else {
            return self.mapped(
                "logcumsumexp",
                self.local.try_logcumsumexp(A::Dim::default()),
            );
        };
        let split_dim = self.split_dim("logcumsumexp", position::<A::Dim, D>(), axis, at);
        self.mapped(
            "logcumsumexp",
            from_dyn(split_dim.scan(&self.local.to_dyn(), Scan::LogSumExp)?),
        )
    }

    /// Computes the running maximum along a dim and its global index; the last index of equal elements. `via` a mesh
    /// axis, the maximum of each rank's part is sent to all others.
    ///
    /// ```
    /// use nomina_mesh::prelude::*;
    /// dims! { T }
    /// mesh! { Line: Data }
    ///
    /// let found = Line::threads([2], |mesh| {
    ///     let x = mesh.whole(tensor!([1., 4., 2., 5.]; T)).cut(Data, T);
    ///     let (most, places) = x.cummax(T.via(Data));
    ///     Ok((most.local().to_vec(), places.local().to_vec()))
    /// })?;
    /// assert_eq!(found[1], (vec![4.0, 5.0], vec![1, 3]));
    /// # Ok::<(), nomina::Error>(())
    /// ```
    ///
    /// # Errors
    /// If memory is missing, or a rank is gone.
    #[twin]
    pub fn try_cummax<A: Along<P, D>>(&self, dim: A) -> Result<(Self, Sharded<D, P, i64>)>
    where
        T: Real,
        P: AllFinished,
        D: Has<A::Dim>,
    {
        let _ = dim;
        self.running::<A>("cummax", Combine::Max, std::panic::Location::caller())
    }

    /// Computes the running minimum along a dim. Like [`cummax`](Self::cummax) otherwise.
    ///
    /// # Errors
    /// If memory is missing, or a rank is gone.
    #[twin]
    pub fn try_cummin<A: Along<P, D>>(&self, dim: A) -> Result<(Self, Sharded<D, P, i64>)>
    where
        T: Real,
        P: AllFinished,
        D: Has<A::Dim>,
    {
        let _ = dim;
        self.running::<A>("cummin", Combine::Min, std::panic::Location::caller())
    }

    fn running<A: Along<P, D>>(
        &self,
        op: &'static str,
        combine: Combine,
        at: CallSite,
    ) -> Result<(Self, Sharded<D, P, i64>)>
    where
        D: Has<A::Dim>,
    {
        let (x, dim) = (self.local.to_dyn(), position::<A::Dim, D>());
        let (values, places) = match (A::VIA, combine) {
            (Some(axis), _) => self.split_dim(op, dim, axis, at).running(&x, combine)?,
            (None, Combine::Max) => x.cummax(dim)?,
            (None, _) => x.cummin(dim)?,
        };
        Ok((
            self.mapped(op, from_dyn(values))?,
            self.mapped(op, from_dyn(places))?,
        ))
    }
}

/// Returns the position in `D` of the only dim of `A`.
pub(super) fn first<A: Axes, D: Dims>() -> usize {
    let name = A::NAMES.first();
    let mut names = D::NAMES.iter();
    names.position(|own| Some(own) == name).unwrap_or_default()
}
