//! What slides along dims, of which some are split, `via` their axes: each rank gets what its windows cover of others' parts.

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
use nomina_macros::twin;

use super::Sharded;
use super::along::{AlongDim, of};
use crate::frame::At;
use crate::parts::{Slid, Sliding};

/// `S` dims that windows slide along, one dim or a tuple: each whole on every rank, or [`via`](crate::ViaAxis::via) the axis that
/// splits it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a list of {S} dims",
    label = "expected {S} dims, each of them plain or `via` the mesh axis that splits it"
)]
pub trait SlideDims<const S: usize> {
    /// The dims.
    type Axes: Axes;
    /// What is wrong with them in placement `P`.
    #[doc(hidden)]
    type Stands<P: Placement>: Verdict;
    /// The axis that splits each.
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
            type Stands<P: Placement> = slide_dims!(@ P $($a)*);
            const VIA: [Option<usize>; $s] = [$($a::VIA),*];
        }
    )*};
    (@ $p:ident $a:ident) => { $a::Stands<$p> };
    (@ $p:ident $a:ident $($more:ident)*) => {
        <$a::Stands<$p> as Verdict>::Then<slide_dims!(@ $p $($more)*)>
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
    type Stands<P: Placement> = <Fine as Verdict>::Then<A::Stands<P>>;
    const VIA: [Option<usize>; 1] = [A::VIA];
}

/// The dims fit placement `P`: what is split goes `via` its axis.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not fit placement `{P}`",
    label = "expected dims, each of them plain or `via` the mesh axis that splits it"
)]
pub trait Slides<P, const S: usize>: SlideDims<S> {}
impl<A: SlideDims<S>, P: Placement, const S: usize> Slides<P, S> for A where
    A::Stands<P>: Accepted<P, P>
{
}

impl<D: Dims, P: Placement, T: Element> Sharded<D, P, T> {
    fn sliding<A: SlideDims<S>, const S: usize>(&self, op: &'static str, at: At) -> Sliding {
        let dims = positions::<A::Axes, D>();
        Sliding {
            frame: self.frame(),
            op,
            at,
            dims: dims.iter().copied().zip(A::VIA).collect(),
        }
    }

    /// A result whose split dims have the sizes that windows leave.
    pub(super) fn slid<E: Dims + Distinct, Q: Placement<Mesh = P::Mesh>>(
        &self,
        op: &'static str,
        slid: Slid,
        operands: &[super::SizedDims<'_>],
    ) -> Result<Sharded<E, Q, T>> {
        let mut found = Sharded::of(op, of(slid.local)?, self.mesh.clone(), operands)?;
        for (dim, size) in slid.sizes {
            found.sizes[dim] = size;
        }
        Ok(found)
    }
}

/// The placement of a convolution's weight of dims `E`, for inputs in placement `P` with channels `X`: each rank has all but output
/// channels, which may be split.
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
        (op, at): (&'static str, At),
        weight: &Sharded<E, Q, T>,
        bias: Option<&Sharded<(OutChannel<E, X>,), Q, T>>,
        groups: usize,
        slid: impl FnOnce(&Sliding, &DynTensor, usize, &DynTensor, Option<&DynTensor>) -> Result<Slid>,
    ) -> Result<Sharded<Convolved<D, E, X>, Joined<P, Q>, T>>
    where
        (OutChannel<E, X>,): Dims,
        Convolved<D, E, X>: Distinct,
    {
        self.one_mesh(op, weight)?;
        if let Some(bias) = bias {
            self.one_mesh(op, bias)?;
        }
        if groups != 1 && weight.local.shape() != weight.shape() {
            return Err(crate::parts::groups_apart(op, groups));
        }
        let (by, bias) = (weight.local.to_dyn(), bias.map(|bias| bias.local.to_dyn()));
        let (x, channel) = (self.local.to_dyn(), position::<X, D>());
        let sliding = self.sliding::<A, S>(op, at);
        let slid = slid(&sliding, &x, channel, &by, bias.as_ref())?;
        self.slid(op, slid, &[self.operand(), weight.operand()])
    }
}

/// A method for each number of dims: what it is called, and what computes it on one rank.
macro_rules! convolutions {
    ($($doc:literal $options:ident $slid:ident: $($s:literal $name:ident $try_name:ident $by:ident)*;)*) => {
        /// # Convolutions
        impl<D: Dims + Distinct, P: Placement, T: Element> Sharded<D, P, T> {$($(
            #[doc = $doc]
            ///
            /// Each rank has all channels. The dims may be split, each via its axis: then each rank gets what its results take of
            /// others' parts, however far. Batches may be split, and output channels of weight and bias.
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
            /// When sizes do not fit; when memory is missing, or a rank is gone.
            #[twin]
            pub fn $try_name<X: DimOf<D>, A: Slides<P, $s, Axes: SpatialOf<Without<D, X>, $s>>, E: WeightFor<D, X, A::Axes, $s>, Q: WeightPlaced<P, X, E>>(
                &self,
                channel: X,
                dims: A,
                weight: &Sharded<E, Q, T>,
                bias: Option<&Sharded<(OutChannel<E, X>,), Q, T>>,
                options: $options<$s>,
            ) -> Result<Sharded<Convolved<D, E, X>, Joined<P, Q>, T>>
            where
                T: Numeric,
                P: AllFinished + HasWhole<(X,)> + PlacedWith<InPointwise, Q, D, ()>,
                (OutChannel<E, X>,): Dims,
                Convolved<D, E, X>: Distinct,
            {
                let (_, _, call) = (channel, dims, (stringify!($name), Location::caller()));
                self.convolved::<X, A, E, Q, $s>(call, weight, bias, options.groups, |sliding, x, channel, weight, bias| {
                    let dims = sliding.places();
                    sliding.$slid(x, channel, weight, bias, options, |x, bias, options| {
                        x.$by(channel, &dims, weight, bias, options)
                    })
                })
            }
        )*)*}
    };
}
convolutions! {
    "Slides a kernel along dims and sums over channels." ConvOptions conv:
        1 conv1d try_conv1d_with conv1d_by
        2 conv2d try_conv2d_with conv2d_by
        3 conv3d try_conv3d_with conv3d_by;
    "The transpose of a convolution: each element adds a kernel to the result." ConvTransposeOptions conv_transpose:
        1 conv_transpose1d try_conv_transpose1d_with conv_transpose1d_by
        2 conv_transpose2d try_conv_transpose2d_with conv_transpose2d_by
        3 conv_transpose3d try_conv_transpose3d_with conv_transpose3d_by;
}

/// As [`convolutions`].
macro_rules! pools {
    ($($doc:literal $options:ident $slid:ident: $($s:literal $name:ident $try_name:ident $by:ident)*;)*) => {
        /// # Pools
        impl<D: Dims + Distinct, P: Placement, T: Element> Sharded<D, P, T> {$($(
            #[doc = $doc]
            ///
            /// ```
            /// use nomina_mesh::prelude::*;
            /// dims! { T }
            /// mesh! { Line: Data }
            ///
            /// let found = Line::threads([2], |mesh| {
            ///     let x = mesh.whole(tensor!([1., 3., 2., 8.]; T)).cut(Data, T);
            ///     let (most, means) = (x.max_pool1d(T.via(Data), [2]), x.avg_pool1d(T.via(Data), [2]));
            ///     Ok((most.local().item(), means.local().item()))
            /// })?;
            /// assert_eq!(found, [(3.0, 2.0), (8.0, 5.0)]);
            /// # Ok::<(), nomina::Error>(())
            /// ```
            ///
            /// # Errors
            /// When sizes do not fit; when memory is missing, or a rank is gone.
            #[twin(with = "with options.")]
            pub fn $try_name<A: Slides<P, $s, Axes: SpatialOf<D, $s>>>(&self, dims: A, kernel_size: [usize; $s], options: $options<$s>) -> Result<Self>
            where
                T: Real + Numeric,
                P: AllFinished,
            {
                let (_, op, at) = (dims, stringify!($name), Location::caller());
                let (x, sliding) = (self.local.to_dyn(), self.sliding::<A, $s>(op, at));
                let dims = sliding.places();
                let slid = sliding.$slid(&x, kernel_size, options, |x, options| x.$by(&dims, kernel_size, options))?;
                self.slid(op, slid, &[self.operand()])
            }
        )*)*}
    };
}
pools! {
    "The greatest element under a window along dims, which may be split, each via its axis." MaxPoolOptions max_pool:
        1 max_pool1d try_max_pool1d_with max_pool1d_by
        2 max_pool2d try_max_pool2d_with max_pool2d_by
        3 max_pool3d try_max_pool3d_with max_pool3d_by;
    "The mean under a window along dims, which may be split, each via its axis; then without `ceil_mode`." AvgPoolOptions avg_pool:
        1 avg_pool1d try_avg_pool1d_with avg_pool1d_by
        2 avg_pool2d try_avg_pool2d_with avg_pool2d_by
        3 avg_pool3d try_avg_pool3d_with avg_pool3d_by;
}
