//! Dropout of whole channels.

use std::marker::PhantomData;

use nomina::dims::{Axes, AxesOf, Dims, Distinct, positions};
use nomina::{DropoutOptions, DynTensor, Float, Generator, Result, Tensor};
use nomina_macros::twin;

use super::{Dropout, Layer};
use crate::{Mode, Module};

/// Dropout of whole channels: in training, sets all elements along the dims `A` to zero together, with a probability,
/// and scales the others so that the mean is preserved. PyTorch's `Dropout1d`, `Dropout2d` and `Dropout3d` are this
/// along one, two and three dims. Tompson et al., "Efficient Object Localization Using Convolutional Networks".
///
/// ```
/// use nomina::prelude::*;
/// use nomina_nn::prelude::*;
/// dims! { N, C, H, W }
/// let dropout = ChannelDropout::new((H, W), 0.5);
/// let x = Tensor::<(N, C, H, W)>::ones([8, 8, 2, 2]);
/// let y = dropout.forward(&x, Mode::Train);
/// assert!(y.amax((H, W)).equal(&y.amin((H, W))));
/// assert!(dropout.forward(&x, Mode::Eval).equal(&x));
/// ```
#[derive(Clone, Copy, Debug, Module)]
#[module(crate = crate)]
pub struct ChannelDropout<A> {
    /// The probability.
    #[module(skip)]
    pub p: f64,
    #[module(skip)]
    dims: PhantomData<A>,
}

impl<A: Axes> ChannelDropout<A> {
    /// Creates a layer with a probability from 0 to 1.
    #[must_use]
    pub fn new(dims: A, p: f64) -> Self {
        let _ = dims;
        Self {
            p,
            dims: PhantomData,
        }
    }

    /// Drops channels of the input in training; otherwise returns it unchanged.
    ///
    /// # Errors
    /// If the probability is invalid, or an allocation fails.
    #[twin]
    pub fn try_forward<D: Dims + Distinct, T: Float>(
        &self,
        x: &Tensor<D, T>,
        mode: Mode,
    ) -> Result<Tensor<D, T>>
    where
        A: AxesOf<D>,
    {
        self.masked(x, mode, |ones, options| ones.dropout_with(options))
    }

    /// [`forward`](Self::forward), drawing from the given generator.
    ///
    /// # Errors
    /// If the probability is invalid, or an allocation fails.
    #[twin]
    pub fn try_forward_from<D: Dims + Distinct, T: Float>(
        &self,
        x: &Tensor<D, T>,
        mode: Mode,
        generator: &mut Generator,
    ) -> Result<Tensor<D, T>>
    where
        A: AxesOf<D>,
    {
        self.masked(x, mode, |ones, options| {
            ones.dropout_from(options, generator)
        })
    }

    /// Multiplies by ones that are dropped, of size 1 along the dims `A`.
    fn masked<D: Dims + Distinct, T: Float>(
        &self,
        x: &Tensor<D, T>,
        mode: Mode,
        drop: impl FnOnce(&DynTensor, DropoutOptions) -> Result<DynTensor>,
    ) -> Result<Tensor<D, T>>
    where
        A: AxesOf<D>,
    {
        let (x, options) = (x.to_dyn(), Dropout::new(self.p).options(mode));
        if !options.training {
            return drop(&x, options)?.try_into();
        }
        let mut sizes = x.shape().to_vec();
        for &at in positions::<A, D>() {
            sizes[at] = sizes[at].min(1);
        }
        let ones = DynTensor::options().dtype(T::DTYPE).device(x.device());
        let mask = drop(&ones.ones(&sizes, ())?, options)?;
        x.mul(&mask)?.try_into()
    }
}

#[diagnostic::do_not_recommend]
impl<D: Dims + Distinct, A: AxesOf<D>, T: Float> Layer<Tensor<D, T>> for ChannelDropout<A> {
    type Out = Tensor<D, T>;
    fn try_apply(&self, x: &Tensor<D, T>, mode: Mode) -> Result<Tensor<D, T>> {
        self.try_forward(x, mode)
    }
}
