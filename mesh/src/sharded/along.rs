//! Along one dim: what needs all of it, on each rank or by way of the others.

use std::marker::PhantomData;

use nomina::dims::{Accepted, Dim, DimOf, Dims, Distinct, Has, keep, position};
use nomina::{DynTensor, Element, Float, Names, Numeric, Result, Tensor};
use nomina_core::mesh::{
    AllFinished, AllLinear, Combine, HasEveryVerdict, MeshAxis, Placement, SplitsBy, Verdict,
};
use nomina_macros::twin;
use nomina_runtime::Raw;
use nomina_runtime::grad::custom;

use super::{Sharded, number, typed};
use crate::check::What;
use crate::frame::{At, Frame};
use crate::ranks::Job;

/// A split dim, and the mesh axis over which an operator communicates to see all of it; made by [`ViaAxis::via`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Via<N, X>(PhantomData<(N, X)>);

/// [`via`](ViaAxis::via), for every dim.
pub trait ViaAxis: Dim {
    /// This dim, which mesh axis `axis` splits, for an operator that communicates over it: `x.softmax(Vocab.via(Model))`.
    fn via<X: MeshAxis>(self, axis: X) -> Via<Self, X> {
        let _ = axis;
        Via(PhantomData)
    }
}
impl<N: Dim> ViaAxis for N {}

/// A dim, or a dim [`via`](ViaAxis::via) the mesh axis that splits it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a dim",
    label = "expected a dim, or a dim `via` the mesh axis that splits it"
)]
pub trait AlongDim {
    /// The dim.
    type Dim: Dim;
    /// What is wrong with it in placement `P`.
    #[doc(hidden)]
    type Stands<P: Placement>: Verdict;
    /// Which mesh axis splits it, if one does.
    const VIA: Option<usize>;
}
#[diagnostic::do_not_recommend]
impl<N: Dim> AlongDim for N {
    type Dim = N;
    type Stands<P: Placement> = HasEveryVerdict<P, (N,)>;
    const VIA: Option<usize> = None;
}
#[diagnostic::do_not_recommend]
impl<N: Dim, X: MeshAxis> AlongDim for Via<N, X> {
    type Dim = N;
    type Stands<P: Placement> = SplitsBy<P, X, N>;
    const VIA: Option<usize> = Some(number::<X>());
}

/// What an operator along a dim takes: a dim that each rank has all of, or [`via`](ViaAxis::via) the axis that splits it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not fit placement `{P}`",
    label = "expected a dim, or a dim `via` the mesh axis that splits it"
)]
pub trait Along<P, D>: AlongDim<Dim: DimOf<D>> {}
impl<A: AlongDim<Dim: DimOf<D>>, P: Placement, D> Along<P, D> for A where
    A::Stands<P>: Accepted<P, P>
{
}

impl Frame {
    /// Combines a tensor over the ranks of an axis, where it is pending with sizes of its own.
    pub(super) fn over(
        &self,
        op: &'static str,
        raw: &Raw,
        axis: usize,
        combine: Combine,
        at: At,
    ) -> Result<Raw> {
        use nomina_core::mesh::value::Place;
        let frame = self.with(axis, Place::Pending(combine));
        frame.all_reduce(op, raw, axis, false, at)
    }

    /// The sum of a tensor over the ranks before this one along an axis; zeros on the first.
    fn before(&self, op: &'static str, raw: &Raw, axis: usize, at: At) -> Result<Raw> {
        let what = What::new(op, at).of(&self.names, &self.sizes, raw.dtype());
        let piece = raw.clone().detach();
        let job = Job::Scan {
            piece,
            combine: Combine::Add,
        };
        let found = self.shared.start(axis, &what, job)?.wait()?;
        let zeros = || Raw::zeros(op, raw.shape(), raw.dtype(), raw.device());
        let found = found.into_iter().next().map_or_else(zeros, Ok)?;
        let frame = self.clone();
        custom(op, &[raw], found, move |grad| {
            // What a rank adds to all later ones: the sum of all, less that of itself and of those before.
            let all = plain(frame.over(op, grad, axis, Combine::Add, at)?)?;
            let before = plain(frame.before(op, grad, axis, at)?)?;
            let after = all.sub(&before)?.sub(&plain(grad.clone())?)?;
            Ok(vec![Some(after.into_parts().0)])
        })
    }
}

fn plain(raw: Raw) -> Result<DynTensor> {
    let names = Names::unnamed(raw.rank());
    DynTensor::from_parts(raw, names)
}

impl<D: Dims + Distinct, P: Placement, T: Element> Sharded<D, P, T> {
    /// Less the greatest along a dim, over all ranks that have a part of it.
    fn centred<N: Dim + DimOf<D>>(
        &self,
        op: &'static str,
        axis: usize,
        at: At,
    ) -> Result<Tensor<D, T>>
    where
        T: Float,
        D: Has<N>,
    {
        let dim = position::<N, D>();
        let local = self.local.to_dyn();
        // A rank without elements has nothing to compare: its greatest is the least number.
        let most = match local.shape()[dim] {
            0 => {
                let mut shape = local.shape().to_vec();
                shape[dim] = 1;
                let mut least = DynTensor::options()
                    .dtype(T::DTYPE)
                    .empty(&shape, local.names().clone())?;
                least.fill_(f64::NEG_INFINITY)?;
                least
            }
            _ => self.local.detach().try_amax(keep(N::default()))?.into_dyn(),
        };
        let most = self.frame().over(op, most.raw(), axis, Combine::Max, at)?;
        let most = DynTensor::from_parts(most.detach(), local.names().clone())?;
        // Where nothing but minus infinity stands, as the operator on one rank has it: the difference is NaN.
        typed(local.sub(&most)?.into_parts().0)
    }

    /// The softmax along a dim: exponentials, divided by their sum. `via` a mesh axis, the greatest element and the sum of each
    /// row are exchanged.
    ///
    /// # Errors
    /// When memory is missing, or a rank is gone.
    #[twin]
    pub fn try_softmax<A: Along<P, D>>(&self, dim: A) -> Result<Self>
    where
        T: Float,
        P: AllFinished,
        D: Has<A::Dim>,
    {
        let (_, at) = (dim, std::panic::Location::caller());
        let Some(axis) = A::VIA else {
            return self.mapped(self.local.try_softmax(A::Dim::default()));
        };
        let powers = self.centred::<A::Dim>("softmax", axis, at)?.try_exp()?;
        let powers: DynTensor = powers.into_dyn();
        let sum = powers.sum_keepdim::<A::Dim, D>()?;
        let sum = self
            .frame()
            .over("softmax", sum.raw(), axis, Combine::Add, at)?;
        let sum = DynTensor::from_parts(sum, powers.names().clone())?;
        self.mapped(typed(powers.div(&sum)?.into_parts().0))
    }

    /// The logarithm of the softmax along a dim, as [`softmax`](Self::softmax).
    ///
    /// # Errors
    /// As there.
    #[twin]
    pub fn try_log_softmax<A: Along<P, D>>(&self, dim: A) -> Result<Self>
    where
        T: Float,
        P: AllFinished,
        D: Has<A::Dim>,
    {
        let (_, at) = (dim, std::panic::Location::caller());
        let Some(axis) = A::VIA else {
            return self.mapped(self.local.try_log_softmax(A::Dim::default()));
        };
        let centred: DynTensor = self.centred::<A::Dim>("log_softmax", axis, at)?.into_dyn();
        let sum = centred.exp()?.sum_keepdim::<A::Dim, D>()?;
        let sum = self
            .frame()
            .over("log_softmax", sum.raw(), axis, Combine::Add, at)?;
        let sum = DynTensor::from_parts(sum, centred.names().clone())?;
        self.mapped(typed(centred.sub(&sum.log()?)?.into_parts().0))
    }

    /// The elements less their mean along a dim, divided by their standard deviation (of all, plus `eps` in the root). `via` a mesh
    /// axis, sums and squares of each row are exchanged. A weight and a bias follow by `*` and `+`.
    ///
    /// # Errors
    /// When memory is missing, or a rank is gone.
    #[twin]
    pub fn try_layer_norm<A: Along<P, D>>(&self, dim: A, eps: f64) -> Result<Self>
    where
        T: Float,
        P: AllFinished,
        D: Has<A::Dim>,
    {
        let (_, at) = (dim, std::panic::Location::caller());
        let position = position::<A::Dim, D>();
        let Some(axis) = A::VIA else {
            let x = self.local.to_dyn();
            let options = nomina::dynamic::LayerNormOptions {
                weight: None,
                bias: None,
                eps,
            };
            return self.mapped(typed(
                x.layer_norm_with(position as i64, options)?.into_parts().0,
            ));
        };
        let (x, count) = (self.local.to_dyn(), self.sizes[position] as f64);
        let over = |local: DynTensor| -> Result<DynTensor> {
            let sum = self
                .frame()
                .over("layer_norm", local.raw(), axis, Combine::Add, at)?;
            DynTensor::from_parts(sum, local.names().clone())?.div(count)
        };
        let centred = x.sub(&over(x.sum_keepdim::<A::Dim, D>()?)?)?;
        let squares = over(centred.square()?.sum_keepdim::<A::Dim, D>()?)?;
        let scaled = centred.mul(&squares.add(eps)?.rsqrt()?)?;
        self.mapped(typed(scaled.into_parts().0))
    }

    /// The running sum along a dim. `via` a mesh axis, the totals of each rank are exchanged.
    ///
    /// # Errors
    /// When memory is missing, or a rank is gone.
    #[twin]
    pub fn try_cumsum<A: Along<P, D>>(&self, dim: A) -> Result<Sharded<D, P, T::Sum>>
    where
        T: Numeric,
        P: AllLinear,
        D: Has<A::Dim>,
    {
        let (_, at) = (dim, std::panic::Location::caller());
        let local = self.local.try_cumsum(A::Dim::default())?;
        let Some(axis) = A::VIA else {
            return self.mapped(Ok(local));
        };
        let total = self.local.to_dyn().sum_keepdim::<A::Dim, D>()?;
        let before = self.frame().before("cumsum", total.raw(), axis, at)?;
        let local = local.into_dyn();
        let before = DynTensor::from_parts(before, local.names().clone())?;
        self.mapped(typed(local.add(&before)?.into_parts().0))
    }
}

/// A sum that keeps its dim.
pub(super) trait SumKeepdim {
    fn sum_keepdim<N: Dim, D: Dims>(&self) -> Result<DynTensor>;
}
impl SumKeepdim for DynTensor {
    fn sum_keepdim<N: Dim, D: Dims>(&self) -> Result<DynTensor> {
        let options = nomina::dynamic::ReduceOptions {
            keepdim: true,
            ..Default::default()
        };
        self.sum_with(position::<N, D>() as i64, options)
    }
}
