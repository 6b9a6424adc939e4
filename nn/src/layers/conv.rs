//! Convolutions.

use nomina::dims::{
    Axes, Convolved, Dim, DimOf, Dims, Distinct, Joined, OutChannel, SizesFor, SpatialOf,
    WeightFor, Without,
};
use nomina::{ConvOptions, Element, Inexact, Numeric, Result, Tensor, Typed};
use nomina_macros::twin;

use super::Layer;
use crate::call::{product, uniform};
use crate::param::Param;
use crate::{Mode, Module};

/// The dims of a convolution's weight: output channels, input channels, the kernel.
pub type Kernel<A, C, O> = Joined<(O, C), <A as Axes>::List>;

/// A convolution along `S` dims `A` from channels `C` to channels `O`. [`Conv1d`], [`Conv2d`] and [`Conv3d`] are
/// aliases of it.
#[derive(Clone, Module)]
#[module(crate = crate)]
pub struct Conv<const S: usize, A: Axes, C: Dim, O: Dim, T: Element = f32> {
    /// The kernels.
    pub weight: Param<Kernel<A, C, O>, T>,
    /// The summand of each output channel.
    pub bias: Option<Param<(O,), T>>,
    /// Stride, padding, dilation and groups.
    #[module(skip)]
    pub options: ConvOptions<S>,
}

/// A convolution along one dim `A` from channels `C` to channels `O`.
///
/// ```
/// use nomina::prelude::*;
/// use nomina_nn::prelude::*;
/// dims! { N, C, Out, Time }
/// let conv = Conv1d::<Time, C, Out>::new(C.of(2), Out.of(4), Time.of(3));
/// let y: Tensor<(N, Out, Time)> = conv.forward(&Tensor::<(N, C, Time)>::randn([1, 2, 8]));
/// assert_eq!(y.shape(), [1, 4, 6]);
/// ```
pub type Conv1d<A, C, O, T = f32> = Conv<1, A, C, O, T>;

/// A convolution along two dims `A` from channels `C` to channels `O`.
///
/// ```
/// use nomina::prelude::*;
/// use nomina_nn::prelude::*;
/// dims! { N, C, Out, H, W }
/// let options = ConvOptions { padding: Padding::Same, ..default() };
/// let conv = Conv2d::<(H, W), C, Out>::with(C.of(3), Out.of(8), (H.of(3), W.of(3)), options);
/// let y: Tensor<(N, Out, H, W)> = conv.forward(&Tensor::<(N, C, H, W)>::randn([2, 3, 8, 8]));
/// assert_eq!(y.shape(), [2, 8, 8, 8]);
/// ```
pub type Conv2d<A, C, O, T = f32> = Conv<2, A, C, O, T>;

/// A convolution along three dims `A` from channels `C` to channels `O`.
///
/// ```
/// use nomina::prelude::*;
/// use nomina_nn::prelude::*;
/// dims! { C, Out, Time, H, W }
/// let conv = Conv3d::<(Time, H, W), C, Out>::new(C.of(1), Out.of(2), (Time.of(2), H.of(3), W.of(3)));
/// let y: Tensor<(Out, Time, H, W)> = conv.forward(&Tensor::<(C, Time, H, W)>::randn([1, 4, 5, 5]));
/// assert_eq!(y.shape(), [2, 3, 3, 3]);
/// ```
pub type Conv3d<A, C, O, T = f32> = Conv<3, A, C, O, T>;

impl<const S: usize, A: Axes, C: Dim, O: Dim> Conv<S, A, C, O>
where
    Kernel<A, C, O>: Distinct,
    (O,): Distinct,
{
    /// Creates a layer with stride 1 and no padding. Kernels and bias are uniform within the inverse square root of the
    /// number of inputs per output, like PyTorch's.
    ///
    /// # Errors
    /// If a product of sizes is too large, or an allocation fails.
    #[twin]
    pub fn try_new(
        channels: impl SizesFor<C>,
        outputs: impl SizesFor<O>,
        kernel: impl SizesFor<A>,
    ) -> Result<Self> {
        Self::try_with(channels, outputs, kernel, ConvOptions::default())
    }

    /// Like [`new`](Self::new), but with options. If there are groups, the weight has the channels of one
    /// group.
    ///
    /// # Errors
    /// If a product of sizes is too large, or an allocation fails.
    #[twin]
    pub fn try_with(
        channels: impl SizesFor<C>,
        outputs: impl SizesFor<O>,
        kernel: impl SizesFor<A>,
        options: ConvOptions<S>,
    ) -> Result<Self> {
        let (channels, outputs) = (channels.sizes()[0], outputs.sizes()[0]);
        let kernel = kernel.sizes();
        let channels = channels.checked_div(options.groups).unwrap_or(channels);
        let bound = 1.0 / (channels as f64 * product(&kernel)).max(1.0).sqrt();
        let sizes = [&[outputs, channels], &kernel[..]].concat();
        Ok(Self {
            weight: Param::new(uniform(&sizes, -bound, bound)?),
            bias: Some(Param::new(uniform(&[outputs], -bound, bound)?)),
            options,
        })
    }
}

impl<const S: usize, A: Axes, C: Dim, O: Dim, T: Inexact> Conv<S, A, C, O, T> {
    /// Returns the bias with the dim that `convNd` computes for it: the same dim, which rustc cannot prove for every
    /// `A`.
    fn channels(&self) -> Result<Option<Bias<A, C, O, T>>>
    where
        (OutChannel<Kernel<A, C, O>, C>,): Distinct,
    {
        let bias = self.bias.as_ref().map(|bias| bias.to_dyn().typed());
        bias.transpose()
    }
}

type Bias<A, C, O, T> = Tensor<(OutChannel<Kernel<A, C, O>, C>,), T>;

impl<A: Axes + Default, C: Dim, O: Dim, T: Inexact + Numeric> Conv1d<A, C, O, T> {
    /// Computes the convolution, in which `O` replaces `C`.
    ///
    /// # Errors
    /// If sizes do not match, or an allocation fails.
    #[twin]
    pub fn try_forward<D: Dims>(
        &self,
        x: &Tensor<D, T>,
    ) -> Result<Tensor<Convolved<D, Kernel<A, C, O>, C>, T>>
    where
        C: DimOf<D>,
        A: SpatialOf<Without<D, C>, 1>,
        Kernel<A, C, O>: WeightFor<D, C, A, 1>,
        (OutChannel<Kernel<A, C, O>, C>,): Distinct,
    {
        let (bias, options) = (self.channels()?, self.options);
        x.try_conv1d_with(
            C::default(),
            A::default(),
            &self.weight,
            bias.as_ref(),
            options,
        )
    }
}

impl<A: Axes + Default, C: Dim, O: Dim, T: Inexact + Numeric> Conv2d<A, C, O, T> {
    /// Computes the convolution, in which `O` replaces `C`.
    ///
    /// # Errors
    /// If sizes do not match, or an allocation fails.
    #[twin]
    pub fn try_forward<D: Dims>(
        &self,
        x: &Tensor<D, T>,
    ) -> Result<Tensor<Convolved<D, Kernel<A, C, O>, C>, T>>
    where
        C: DimOf<D>,
        A: SpatialOf<Without<D, C>, 2>,
        Kernel<A, C, O>: WeightFor<D, C, A, 2>,
        (OutChannel<Kernel<A, C, O>, C>,): Distinct,
    {
        let (bias, options) = (self.channels()?, self.options);
        x.try_conv2d_with(
            C::default(),
            A::default(),
            &self.weight,
            bias.as_ref(),
            options,
        )
    }
}

impl<A: Axes + Default, C: Dim, O: Dim, T: Inexact + Numeric> Conv3d<A, C, O, T> {
    /// Computes the convolution, in which `O` replaces `C`.
    ///
    /// # Errors
    /// If sizes do not match, or an allocation fails.
    #[twin]
    pub fn try_forward<D: Dims>(
        &self,
        x: &Tensor<D, T>,
    ) -> Result<Tensor<Convolved<D, Kernel<A, C, O>, C>, T>>
    where
        C: DimOf<D>,
        A: SpatialOf<Without<D, C>, 3>,
        Kernel<A, C, O>: WeightFor<D, C, A, 3>,
        (OutChannel<Kernel<A, C, O>, C>,): Distinct,
    {
        let (bias, options) = (self.channels()?, self.options);
        x.try_conv3d_with(
            C::default(),
            A::default(),
            &self.weight,
            bias.as_ref(),
            options,
        )
    }
}

/// Implements [`Layer`] for use in a [`Sequential`](super::Sequential). The `forward` methods are not in this macro,
/// because rustc would mention the macro in its errors.
macro_rules! layers {
    ($($name:ident $s:literal)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<D: Dims, A: Axes + Default, C: Dim, O: Dim, T: Inexact + Numeric> Layer<Tensor<D, T>>
            for $name<A, C, O, T>
        where
            C: DimOf<D>,
            A: SpatialOf<Without<D, C>, $s>,
            Kernel<A, C, O>: WeightFor<D, C, A, $s>,
            (OutChannel<Kernel<A, C, O>, C>,): Distinct,
        {
            type Out = Tensor<Convolved<D, Kernel<A, C, O>, C>, T>;
            fn try_apply(&self, x: &Tensor<D, T>, _: Mode) -> Result<Self::Out> {
                self.try_forward(x)
            }
        }
    )*};
}
layers!(Conv1d 1 Conv2d 2 Conv3d 3);
