//! Windows that slide along dims: convolution, pooling, padding, resampling.
//!
//! The methods for one, two and three dims are generated.

pub mod pad;
pub mod shuffle;
pub mod windows;

use nomina_core::dims::{
    Axes, Convolved, DimOf, Dims, OneDim, OutChannel, SpatialOf, WeightFor, Without, position,
    positions,
};
use nomina_core::op::Op;
use nomina_core::{Element, Result};
use nomina_runtime::call::{ConvArgs, TransposedArgs};

use super::Tensor;
use crate::erased::conv::{self, Found};
use crate::erased::{Erased, Known};

/// Returns the positions of the dims of a convolution.
fn found<D: Dims, E: Dims, X: OneDim, A: Axes>() -> Found {
    Found {
        channel: position::<X, D>(),
        spatial: positions::<A, D>(),
        weight_channel: position::<X, E>(),
    }
}

/// # Convolution
impl<D: Dims, T: Element> Tensor<D, T> {
    fn convolve<X, A, E, const S: usize>(
        &self,
        op: Op,
        weight: &Tensor<E, T>,
        bias: Option<&Tensor<(OutChannel<E, X>,), T>>,
        args: &ConvArgs<'_>,
    ) -> Result<Erased>
    where
        X: DimOf<D>,
        A: SpatialOf<Without<D, X>, S>,
        E: WeightFor<D, X, A, S>,
    {
        conv::conv(
            op,
            [self.erased(), weight.erased()],
            bias.map(Tensor::erased),
            found::<D, E, X, A>(),
            args,
            <Convolved<D, E, X>>::STATIC,
        )
    }

    fn convolve_back<X, A, E, const S: usize>(
        &self,
        op: Op,
        weight: &Tensor<E, T>,
        bias: Option<&Tensor<(OutChannel<E, X>,), T>>,
        args: &TransposedArgs<'_>,
    ) -> Result<Erased>
    where
        X: DimOf<D>,
        A: SpatialOf<Without<D, X>, S>,
        E: WeightFor<D, X, A, S>,
    {
        conv::transposed(
            op,
            [self.erased(), weight.erased()],
            bias.map(Tensor::erased),
            found::<D, E, X, A>(),
            args,
            <Convolved<D, E, X>>::STATIC,
        )
    }
}
