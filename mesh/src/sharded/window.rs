//! Sliding windows along dims. Dims that are split are named `via` their axes: each rank fetches the elements under its
//! windows from the other ranks' parts.

use std::panic::Location;

use nomina::dims::{
    Axes, Axis, Convolved, DimOf, Dims, Distinct, KernelOf, OutChannel, SpatialOf, WeightFor,
    Without, position, positions,
};
use nomina::{
    AvgPoolOptions, ConvOptions, ConvTransposeOptions, DynTensor, Element, MaxPoolOptions, Numeric,
    Real, Result,
};
use nomina_core::dims::Accepted;
use nomina_core::mesh::{
    AllFinished, Fine, HasWhole, InPointwise, Joined, PlacedWith, Placement, Verdict,
};
use nomina_macros::{spatial, twin};

use super::Sharded;
use super::along::{AlongDim, from_dyn};
use crate::origin::CallSite;
use crate::split_dim::{SlidingOp, WindowResult};

/// `S` dims that windows slide along, one dim or a tuple. Each is whole on every rank, or [`via`](crate::ViaAxis::via)
/// the axis that splits it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a list of {S} dims",
    label = "expected {S} dims, each of them plain or `via` its mesh axis"
)]
pub trait SlideDims<const S: usize> {
    /// The dims.
    type Axes: Axes;
    /// The verdict on the dims in placement `P`.
    #[doc(hidden)]
    type WindowVerdict<P: Placement>: Verdict;
    /// The axis that splits each dim.
    const VIA: [Option<usize>; S];
}

macro_rules! slide_dims {
    ($($s:literal ($($a:ident),*) $axes:ty;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<$($a: AlongDim),*> SlideDims<$s> for ($($a,)*)
        where
            $axes: Axes,
        {
            type Axes = $axes;
            type WindowVerdict<P: Placement> = slide_dims!(@ P $($a)*);
            const VIA: [Option<usize>; $s] = [$($a::VIA),*];
        }
    )*};
    (@ $p:ident $a:ident) => { $a::DimVerdict<$p> };
    (@ $p:ident $a:ident $($more:ident)*) => {
        <$a::DimVerdict<$p> as Verdict>::Then<slide_dims!(@ $p $($more)*)>
    };
}
slide_dims! {
    2 (A, B) (A::Dim, B::Dim);
    3 (A, B, C) (A::Dim, B::Dim, C::Dim);
}

#[diagnostic::do_not_recommend]
impl<A: AlongDim> SlideDims<1> for A
where
    A::Dim: Axes,
{
    type Axes = A::Dim;
    type WindowVerdict<P: Placement> = <Fine as Verdict>::Then<A::DimVerdict<P>>;
    const VIA: [Option<usize>; 1] = [A::VIA];
}

/// The dims fit placement `P`: those that are split are `via` their axes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not fit placement `{P}`",
    label = "expected dims, each of them plain or `via` its mesh axis"
)]
pub trait Slides<P, const S: usize>: SlideDims<S> {}
impl<A: SlideDims<S>, P: Placement, const S: usize> Slides<P, S> for A where
    A::WindowVerdict<P>: Accepted<P, P>
{
}

impl<D: Dims, P: Placement, T: Element> Sharded<D, P, T> {
    fn sliding<A: SlideDims<S>, const S: usize>(
        &self,
        op: &'static str,
        at: CallSite,
    ) -> SlidingOp {
        let dims = positions::<A::Axes, D>();
        SlidingOp {
            metadata: self.metadata(),
            op,
            at,
            dims: dims.iter().copied().zip(A::VIA).collect(),
        }
    }

    /// Wraps a result, with the sizes that the windows leave of split dims.
    pub(super) fn slid<E: Dims + Distinct, Q: Placement<Mesh = P::Mesh>>(
        &self,
        op: &'static str,
        slid: WindowResult,
        operands: &[super::SizedDims<'_>],
    ) -> Result<Sharded<E, Q, T>> {
        let mut found =
            Sharded::from_result(op, from_dyn(slid.local)?, self.mesh.clone(), operands)?;
        for (dim, size) in slid.sizes {
            found.sizes[dim] = size;
        }
        Ok(found)
    }
}

/// The placement of a convolution's weight of dims `E`, for inputs in placement `P` with channels `X`. Only the output
/// channels may be split.
pub trait WeightPlaced<P: Placement, X: Axis, E: Dims>:
    Placement<Mesh = P::Mesh> + AllFinished + HasWhole<(X,)> + HasWhole<KernelOf<E, X>>
{
}
impl<P: Placement, X: Axis, E: Dims, Q> WeightPlaced<P, X, E> for Q where
    Q: Placement<Mesh = P::Mesh> + AllFinished + HasWhole<(X,)> + HasWhole<KernelOf<E, X>>
{
}

impl<D: Dims, P: Placement, T: Element> Sharded<D, P, T> {
    fn convolved<
        X: DimOf<D>,
        A: Slides<P, S>,
        E: Dims,
        Q: Placement<Mesh = P::Mesh>,
        const S: usize,
    >(
        &self,
        (op, at): (&'static str, CallSite),
        weight: &Sharded<E, Q, T>,
        bias: Option<&Sharded<(OutChannel<E, X>,), Q, T>>,
        groups: usize,
        slid: impl FnOnce(
            &SlidingOp,
            &DynTensor,
            usize,
            &DynTensor,
            Option<&DynTensor>,
        ) -> Result<WindowResult>,
    ) -> Result<Sharded<Convolved<D, E, X>, Joined<P, Q>, T>>
    where
        (OutChannel<E, X>,): Dims,
        Convolved<D, E, X>: Distinct,
    {
        self.require_same_mesh(op, weight)?;
        if let Some(bias) = bias {
            self.require_same_mesh(op, bias)?;
        }
        if groups != 1 && weight.local.shape() != weight.shape() {
            return Err(crate::split_dim::split_groups_error(op, groups));
        }
        let (by, bias) = (weight.local.to_dyn(), bias.map(|bias| bias.local.to_dyn()));
        let (x, channel) = (self.local.to_dyn(), position::<X, D>());
        let sliding = self.sliding::<A, S>(op, at);
        let slid = slid(&sliding, &x, channel, &by, bias.as_ref())?;
        self.slid(op, slid, &[self.operand(), weight.operand()])
    }
}

/// # Windows
#[spatial]
impl<D: Dims + Distinct, P: Placement, T: Element> Sharded<D, P, T> {
    /// Slides a kernel along dims and sums over channels.
    ///
    /// Each rank has all channels. The dims may be split, each via its axis: then each rank fetches the inputs of its
    /// results from the other ranks, at any distance. Batches may be split, and so may the output channels of weight
    /// and bias.
    ///
    /// ```
    /// use nomina_mesh::prelude::*;
    /// dims! { C, Out, T, K }
    /// mesh! { Line: Data }
    ///
    /// let found = Line::threads([2], |mesh| {
    ///     let x = mesh.whole(tensor!([[1., 2., 3., 4., 5.]]; C, T)).cut(Data, T);
    ///     let weight = mesh.whole(Tensor::<(Out, C, K)>::ones([1, 1, 2]));
    ///     let sums: Sharded<(Out, T), Line<Split<T>>> = x.conv1d_with(C, T.via(Data), &weight, None, default());
    ///     let back: Sharded<(C, T), Line<Split<T>>> = sums.conv_transpose1d_with(Out, T.via(Data), &weight, None, default());
    ///     Ok((sums.all_gather(Data).to_vec(), back.all_gather(Data).to_vec()))
    /// })?;
    /// assert_eq!(found[0].0, [3.0, 5.0, 7.0, 9.0]);
    /// assert_eq!(found[0].1, [3.0, 8.0, 12.0, 16.0, 9.0]);
    /// # Ok::<(), nomina::Error>(())
    /// ```
    ///
    /// # Errors
    /// If sizes do not match, memory is missing, or a rank is gone.
    // On one line, because rustc quotes it in errors.
    #[twin]
    #[rustfmt::skip]
    pub fn try_convNd_with<X: DimOf<D>, A: Slides<P, N, Axes: SpatialOf<Without<D, X>, N>>, E: WeightFor<D, X, A::Axes, N>, Q: WeightPlaced<P, X, E>>(
        &self,
        channel: X,
        dims: A,
        weight: &Sharded<E, Q, T>,
        bias: Option<&Sharded<(OutChannel<E, X>,), Q, T>>,
        options: ConvOptions<N>,
    ) -> Result<Sharded<Convolved<D, E, X>, Joined<P, Q>, T>>
    where
        T: Numeric,
        P: AllFinished + HasWhole<(X,)> + PlacedWith<InPointwise, Q, D, ()>,
        (OutChannel<E, X>,): Dims,
        Convolved<D, E, X>: Distinct,
    {
        let (_, _, call) = (channel, dims, (stringify!(convNd), Location::caller()));
        self.convolved::<X, A, E, Q, N>(call, weight, bias, options.groups, |sliding, x, channel, weight, bias| {
            let dims = sliding.dim_positions();
            sliding.conv(x, channel, weight, bias, options, |x, bias, options| {
                x.convNd_by(channel, &dims, weight, bias, options)
            })
        })
    }

    /// Transposed convolution: each element adds a kernel, scaled by its value, to the result.
    ///
    /// Each rank has all channels. The dims may be split, each via its axis: then each rank fetches the inputs of its
    /// results from the other ranks, at any distance. Batches may be split, and so may the output channels of weight
    /// and bias.
    ///
    /// # Errors
    /// If sizes do not match, memory is missing, or a rank is gone.
    // On one line, because rustc quotes it in errors.
    #[twin]
    #[rustfmt::skip]
    pub fn try_conv_transposeNd_with<X: DimOf<D>, A: Slides<P, N, Axes: SpatialOf<Without<D, X>, N>>, E: WeightFor<D, X, A::Axes, N>, Q: WeightPlaced<P, X, E>>(
        &self,
        channel: X,
        dims: A,
        weight: &Sharded<E, Q, T>,
        bias: Option<&Sharded<(OutChannel<E, X>,), Q, T>>,
        options: ConvTransposeOptions<N>,
    ) -> Result<Sharded<Convolved<D, E, X>, Joined<P, Q>, T>>
    where
        T: Numeric,
        P: AllFinished + HasWhole<(X,)> + PlacedWith<InPointwise, Q, D, ()>,
        (OutChannel<E, X>,): Dims,
        Convolved<D, E, X>: Distinct,
    {
        let (_, _, call) = (channel, dims, (stringify!(conv_transposeNd), Location::caller()));
        self.convolved::<X, A, E, Q, N>(call, weight, bias, options.groups, |sliding, x, channel, weight, bias| {
            let dims = sliding.dim_positions();
            sliding.conv_transpose(x, channel, weight, bias, options, |x, bias, options| {
                x.conv_transposeNd_by(channel, &dims, weight, bias, options)
            })
        })
    }

    /// Computes the maximum under a window along dims, which may be split, each via its axis.
    ///
    /// ```
    /// use nomina_mesh::prelude::*;
    /// dims! { T }
    /// mesh! { Line: Data }
    ///
    /// let found = Line::threads([2], |mesh| {
    ///     let x = mesh.whole(tensor!([1., 3., 2., 8.]; T)).cut(Data, T);
    ///     let (most, means) = (x.max_pool1d(T.via(Data), [2]), x.avg_pool1d(T.via(Data), [2]));
    ///     Ok((most.local().to_vec()[0], means.local().to_vec()[0]))
    /// })?;
    /// assert_eq!(found, [(3.0, 2.0), (8.0, 5.0)]);
    /// # Ok::<(), nomina::Error>(())
    /// ```
    ///
    /// # Errors
    /// If sizes do not match, memory is missing, or a rank is gone.
    #[twin(with = "but with options.")]
    pub fn try_max_poolNd_with<A: Slides<P, N, Axes: SpatialOf<D, N>>>(
        &self,
        dims: A,
        kernel_size: [usize; N],
        options: MaxPoolOptions<N>,
    ) -> Result<Self>
    where
        T: Real + Numeric,
        P: AllFinished,
    {
        let (_, op, at) = (dims, stringify!(max_poolNd), Location::caller());
        let (x, sliding) = (self.local.to_dyn(), self.sliding::<A, N>(op, at));
        let dims = sliding.dim_positions();
        let slid = sliding.max_pool(&x, kernel_size, options, |x, options| {
            x.max_poolNd_by(&dims, kernel_size, options)
        })?;
        self.slid(op, slid, &[self.operand()])
    }

    /// Computes the mean under a window along dims. They may be split, each via its axis, but then without `ceil_mode`.
    ///
    /// # Errors
    /// If sizes do not match, memory is missing, or a rank is gone.
    #[twin(with = "but with options.")]
    pub fn try_avg_poolNd_with<A: Slides<P, N, Axes: SpatialOf<D, N>>>(
        &self,
        dims: A,
        kernel_size: [usize; N],
        options: AvgPoolOptions<N>,
    ) -> Result<Self>
    where
        T: Real + Numeric,
        P: AllFinished,
    {
        let (_, op, at) = (dims, stringify!(avg_poolNd), Location::caller());
        let (x, sliding) = (self.local.to_dyn(), self.sliding::<A, N>(op, at));
        let dims = sliding.dim_positions();
        let slid = sliding.avg_pool(&x, kernel_size, options, |x, options| {
            x.avg_poolNd_by(&dims, kernel_size, options)
        })?;
        self.slid(op, slid, &[self.operand()])
    }
}
