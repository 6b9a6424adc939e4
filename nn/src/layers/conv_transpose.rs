//! Transposed convolutions.

use nomina::dims::{
    Axes, Dim, DimOf, Dims, Distinct, Joined, SizesFor, SpatialOf, Without, positions,
};
use nomina::{ConvTransposeOptions, Element, Error, ErrorKind, Inexact, Numeric, Result, Tensor};
use nomina_core::op::Op;
use nomina_macros::twin;
use nomina_runtime::call;
use nomina_runtime::tensor::about;

use super::Layer;
use super::conv::{Side, WithChannels, along, filtered, kernels};
use crate::call::uniform;
use crate::param::Param;
use crate::{Mode, Module};

/// The dims of a transposed convolution's weight: input channels, output channels, the kernel.
pub type TransposedKernel<A, C, O> = Joined<(C, Side<O, C>), <A as Axes>::List>;

/// The transpose of a convolution along `S` dims `A`, from channels `C` to channels `O`. [`ConvTranspose1d`],
/// [`ConvTranspose2d`] and [`ConvTranspose3d`] are aliases of it.
#[derive(Clone, Module)]
#[module(crate = crate)]
pub struct ConvTranspose<const S: usize, A: Axes, C: Dim, O: Dim, T: Element = f32> {
    /// The kernels. If there are groups, it has the output channels of one group.
    pub weight: Param<TransposedKernel<A, C, O>, T>,
    /// The summand of each output channel.
    pub bias: Option<Param<(O,), T>>,
    /// Stride, padding, output padding, groups and dilation.
    #[module(skip)]
    pub options: ConvTransposeOptions<S>,
}

/// The transpose of a convolution along one dim `A`, from channels `C` to channels `O`.
///
/// ```
/// use nomina::prelude::*;
/// use nomina_nn::prelude::*;
/// dims! { N, C, Out, Time }
/// let conv = ConvTranspose1d::<Time, C, Out>::new(C.of(2), Out.of(4), Time.of(3));
/// let y: Tensor<(N, Out, Time)> = conv.forward(&Tensor::<(N, C, Time)>::randn([1, 2, 8]));
/// assert_eq!(y.shape(), [1, 4, 10]);
/// ```
pub type ConvTranspose1d<A, C, O, T = f32> = ConvTranspose<1, A, C, O, T>;

/// The transpose of a convolution along two dims `A`, from channels `C` to channels `O`.
///
/// ```
/// use nomina::prelude::*;
/// use nomina_nn::prelude::*;
/// dims! { N, C, Out, H, W }
/// let options = ConvTransposeOptions { stride: [2, 2], padding: [1, 1], ..default() };
/// let conv = ConvTranspose2d::<(H, W), C, Out>::with(C.of(8), Out.of(3), (H.of(3), W.of(3)), options);
/// let x = Tensor::<(N, C, H, W)>::randn([2, 8, 4, 4]);
/// let y: Tensor<(N, Out, H, W)> = conv.forward(&x);
/// assert_eq!(y.shape(), [2, 3, 7, 7]);
/// // A convolution with this stride makes 4 of 7 and of 8.
/// assert_eq!(conv.forward_to(&x, (H.of(8), W.of(7))).shape(), [2, 3, 8, 7]);
/// ```
pub type ConvTranspose2d<A, C, O, T = f32> = ConvTranspose<2, A, C, O, T>;

/// The transpose of a convolution along three dims `A`, from channels `C` to channels `O`.
///
/// ```
/// use nomina::prelude::*;
/// use nomina_nn::prelude::*;
/// dims! { C, Out, Time, H, W }
/// let kernel = (Time.of(2), H.of(3), W.of(3));
/// let conv = ConvTranspose3d::<(Time, H, W), C, Out>::new(C.of(2), Out.of(1), kernel);
/// let y: Tensor<(Out, Time, H, W)> = conv.forward(&Tensor::<(C, Time, H, W)>::randn([2, 3, 3, 3]));
/// assert_eq!(y.shape(), [1, 4, 5, 5]);
/// ```
pub type ConvTranspose3d<A, C, O, T = f32> = ConvTranspose<3, A, C, O, T>;

impl<const S: usize, A: Axes, C: Dim, O: Dim> ConvTranspose<S, A, C, O>
where
    TransposedKernel<A, C, O>: Distinct,
    (O,): Distinct,
{
    /// Creates a layer with stride 1 and no padding. Kernels and bias are uniform within the inverse square root of the
    /// number of output channels times the size of a kernel, like PyTorch's.
    ///
    /// # Errors
    /// If a product of sizes is too large, or an allocation fails.
    #[twin]
    pub fn try_new(
        channels: impl SizesFor<C>,
        outputs: impl SizesFor<O>,
        kernel: impl SizesFor<A>,
    ) -> Result<Self> {
        Self::try_with(channels, outputs, kernel, ConvTransposeOptions::default())
    }

    /// Like [`new`](Self::new), but with options. If there are groups, the weight has the output channels of one group.
    ///
    /// # Errors
    /// If a product of sizes is too large, or an allocation fails.
    #[twin]
    pub fn try_with(
        channels: impl SizesFor<C>,
        outputs: impl SizesFor<O>,
        kernel: impl SizesFor<A>,
        options: ConvTransposeOptions<S>,
    ) -> Result<Self> {
        let (channels, outputs) = (channels.sizes()[0], outputs.sizes()[0]);
        let columns = outputs.checked_div(options.groups).unwrap_or(outputs);
        let (weight, bound) = kernels(channels, columns, &kernel.sizes())?;
        Ok(Self {
            weight,
            bias: Some(Param::new(uniform(&[outputs], -bound, bound)?)),
            options,
        })
    }
}

impl<const S: usize, A: Axes, C: Dim, O: Dim, T: Inexact + Numeric> ConvTranspose<S, A, C, O, T> {
    /// Computes the transposed convolution, in which `O` replaces `C`.
    ///
    /// # Errors
    /// If sizes do not match, or an allocation fails.
    #[twin]
    pub fn try_forward<D: Dims>(&self, x: &Tensor<D, T>) -> Result<Tensor<WithChannels<D, C, O>, T>>
    where
        C: DimOf<D>,
        A: SpatialOf<Without<D, C>, S>,
        WithChannels<D, C, O>: Distinct,
    {
        self.transposed(x, self.options)
    }

    /// [`forward`](Self::forward), with results of the given sizes along `A`. With a stride, several sizes are possible,
    /// and `forward` computes the smallest, plus `output_padding`.
    ///
    /// # Errors
    /// If a size is not possible, sizes do not match, or an allocation fails.
    #[twin]
    pub fn try_forward_to<D: Dims>(
        &self,
        x: &Tensor<D, T>,
        sizes: impl SizesFor<A>,
    ) -> Result<Tensor<WithChannels<D, C, O>, T>>
    where
        C: DimOf<D>,
        A: SpatialOf<Without<D, C>, S>,
        WithChannels<D, C, O>: Distinct,
    {
        let (sizes, mut options) = (sizes.sizes(), self.options);
        for (i, &at) in positions::<A, D>().iter().enumerate() {
            let kernel = self.weight.shape()[2 + i];
            let reach = options.dilation[i].saturating_mul(kernel.saturating_sub(1)) + 1;
            let steps = x.shape()[at].saturating_sub(1);
            let full = steps
                .saturating_mul(options.stride[i])
                .saturating_add(reach);
            let least = full.saturating_sub(options.padding[i].saturating_mul(2));
            let most = least.saturating_add(options.stride[i].saturating_sub(1));
            if !(least..=most).contains(&sizes[i]) {
                let what = format!("{} elements cannot become {}", x.shape()[at], sizes[i]);
                let error = Error::new(ErrorKind::Argument, "conv_transpose", what)
                    .at(0, at)
                    .hint(format!("ask for {least} to {most}"));
                return Err(about(error, &[&x.to_dyn()]));
            }
            options.output_padding[i] = sizes[i] - least;
        }
        self.transposed(x, options)
    }

    fn transposed<D: Dims>(
        &self,
        x: &Tensor<D, T>,
        options: ConvTransposeOptions<S>,
    ) -> Result<Tensor<WithChannels<D, C, O>, T>>
    where
        WithChannels<D, C, O>: Distinct,
    {
        let op = const {
            along::<S>([
                Op::ConvTranspose1d,
                Op::ConvTranspose2d,
                Op::ConvTranspose3d,
            ])
        };
        let weight = self.weight.to_dyn();
        let bias = self.bias.as_ref().map(|bias| bias.to_dyn());
        filtered::<D, A, C, O, T>(x, (&weight, bias.as_ref()), 1, |x, weight, bias, sites| {
            call::conv_transpose(op, x, weight, bias, sites, &options.args())
        })
    }
}

#[diagnostic::do_not_recommend]
impl<const S: usize, D: Dims, A: Axes, C: Dim, O: Dim, T: Inexact + Numeric> Layer<Tensor<D, T>>
    for ConvTranspose<S, A, C, O, T>
where
    C: DimOf<D>,
    A: SpatialOf<Without<D, C>, S>,
    WithChannels<D, C, O>: Distinct,
{
    type Out = Tensor<WithChannels<D, C, O>, T>;
    fn try_apply(&self, x: &Tensor<D, T>, _: Mode) -> Result<Self::Out> {
        self.try_forward(x)
    }
}
