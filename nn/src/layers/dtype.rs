//! Layers in another dtype: those whose conversion is not derived.

use nomina::dims::{Axes, Dim, Dims};
use nomina::{Element, Result};

use super::{
    Activation, AdaptiveAvgPool, AdaptiveMaxPool, ChannelDropout, Columns, Directions, Dropout,
    Function, Recurrent, RecurrentWeights, Sequential, SpectralNorm, Upsample, WeightNorm,
    Weighted,
};
use crate::buffer::Buffer;
use crate::dtype::{InDtype, ToDtype};
use crate::param::Param;

#[diagnostic::do_not_recommend]
impl<L: InDtype<U>, U> InDtype<U> for Sequential<L> {
    type Out = Sequential<L::Out>;
    fn try_in_dtype(&self) -> Result<Sequential<L::Out>> {
        Ok(Sequential(self.0.try_in_dtype()?))
    }
}

impl<L> ToDtype for Sequential<L> {}

#[diagnostic::do_not_recommend]
impl<L, M, K: Dims, U> InDtype<U> for WeightNorm<L, K>
where
    L: Weighted + InDtype<U, Out = M>,
    M: Weighted,
    Param<K, L::Dtype>: InDtype<U, Out = Param<K, M::Dtype>>,
{
    type Out = WeightNorm<M, K>;
    fn try_in_dtype(&self) -> Result<Self::Out> {
        Ok(WeightNorm {
            layer: self.layer.try_in_dtype()?,
            length: self.length.try_in_dtype()?,
        })
    }
}

impl<L: Weighted, K: Dims> ToDtype for WeightNorm<L, K> {}

#[diagnostic::do_not_recommend]
impl<L, M, K: Dims, U> InDtype<U> for SpectralNorm<L, K>
where
    L: Weighted + InDtype<U, Out = M>,
    M: Weighted,
    Buffer<K, L::Dtype>: InDtype<U, Out = Buffer<K, M::Dtype>>,
    Buffer<Columns<L, K>, L::Dtype>: InDtype<U, Out = Buffer<Columns<M, K>, M::Dtype>>,
{
    type Out = SpectralNorm<M, K>;
    fn try_in_dtype(&self) -> Result<Self::Out> {
        Ok(SpectralNorm {
            layer: self.layer.try_in_dtype()?,
            u: self.u.try_in_dtype()?,
            v: self.v.try_in_dtype()?,
            n_power_iterations: self.n_power_iterations,
            eps: self.eps,
        })
    }
}

impl<L: Weighted, K: Dims> ToDtype for SpectralNorm<L, K> {}

#[diagnostic::do_not_recommend]
impl<K, S, I, H, T, P, W, U> InDtype<U> for Recurrent<K, S, I, H, T, P, W>
where
    K: Clone,
    S: Dim,
    I: Dim,
    H: Dim,
    P: Dim,
    T: Element,
    U: Element,
    W: Directions,
    RecurrentWeights<I, H, P, T>: InDtype<U, Out = RecurrentWeights<I, H, P, U>>,
    RecurrentWeights<W::Source<P>, H, P, T>:
        InDtype<U, Out = RecurrentWeights<W::Source<P>, H, P, U>>,
{
    type Out = Recurrent<K, S, I, H, U, P, W>;
    fn try_in_dtype(&self) -> Result<Self::Out> {
        Ok(Recurrent {
            cell: self.cell.clone(),
            first: self.first.try_in_dtype()?,
            rest: self.rest.try_in_dtype()?,
            dropout: self.dropout,
            sequence: self.sequence,
        })
    }
}

impl<K, S: Dim, I: Dim, H: Dim, T: Element, P: Dim, W: Directions> ToDtype
    for Recurrent<K, S, I, H, T, P, W>
{
}

/// Implements [`InDtype`] for layers without a dtype.
macro_rules! kept {
    ($([$($bounds:tt)*] $layer:ty),*) => {$(
        #[diagnostic::do_not_recommend]
        impl<$($bounds)* U> InDtype<U> for $layer {
            type Out = Self;
            fn try_in_dtype(&self) -> Result<Self> {
                Ok(Self::clone(self))
            }
        }
    )*};
}
kept!(
    [] Dropout, [] Activation, [F: Clone,] Function<F>, [A: Axes + Clone,] ChannelDropout<A>, [A: Axes + Clone,] AdaptiveAvgPool<A>,
    [A: Axes + Clone,] AdaptiveMaxPool<A>, [A: Axes + Clone,] Upsample<A>
);
