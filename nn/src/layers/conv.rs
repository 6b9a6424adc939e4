//! Convolutions.

use std::marker::PhantomData;

use nomina::dims::head::H64;
use nomina::dims::id::S64;
use nomina::dims::{
    AnySize, Axes, Axis, Bool, Dim, DimList, DimOf, DimSize, Dims, Distinct, Joined, Named, Prime,
    Same, SizesFor, SpatialOf, Without, position, positions,
};
use nomina::{ConvOptions, DynTensor, Element, Inexact, Names, Numeric, Result, Tensor};
use nomina_core::op::Op;
use nomina_macros::twin;
use nomina_runtime::Raw;
use nomina_runtime::call::{self, ConvSites};
use nomina_runtime::tensor::about;

use super::Layer;
use crate::autocast::weighted;
use crate::call::{product, uniform};
use crate::param::Param;
use crate::{Mode, Module};

/// The dims of a convolution's weight: output channels, input channels, the kernel.
pub type Kernel<A, C, O> = Joined<(O, Side<C, O>), <A as Axes>::List>;

/// The dim of a weight for the channels `C`, beside the other channels `O`: `C` itself, or [`InGroup<C>`](InGroup) if
/// `C` has a constant size, which a group of channels does not have, or the name of `O`.
pub type Side<C, O> =
    <<Same<C, O> as Bool>::Or<<<C as Axis>::Size as DimSize>::IsConstant> as Bool>::Axis<
        InGroup<C>,
        C,
    >;

/// The channels `C` of one group in a convolution's weight, of any size, if `C` alone is not possible: it has a constant
/// size, or the convolution keeps its channels. At run time it is named like [`Prime<C>`](Prime).
///
/// ```
/// use nomina::prelude::*;
/// use nomina_nn::prelude::*;
/// dims! { N, H, W, C = 8 }
/// let options = ConvOptions { groups: 8, padding: Padding::Same, ..default() };
/// let depthwise = Conv2d::<(H, W), C, C>::with(C, C, (H.of(3), W.of(3)), options);
/// let weight: &Tensor<(C, InGroup<C>, H, W)> = &depthwise.weight;
/// assert_eq!(weight.shape(), [8, 1, 3, 3]);
/// let x = Tensor::<(N, C, H, W)>::randn([2, 8, 6, 6]);
/// let y = &x + depthwise.forward(&x);
/// assert_eq!(y.shape(), [2, 8, 6, 6]);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct InGroup<C>(PhantomData<C>);

#[diagnostic::do_not_recommend]
impl<C: Dim> Axis for InGroup<C> {
    type Id = S64<C::Id>;
    type Head = H64;
    type Kind = Named;
    type Size = AnySize;
    const NAME: Option<&'static str> = <Prime<C> as Axis>::NAME;
}

#[diagnostic::do_not_recommend]
impl<C: Dim> Dim for InGroup<C> {}

/// The dims `D` with the channels `O` in the place of `C`.
pub type WithChannels<D, C, O> = <D as DimList>::Splice<C, (O,)>;

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
        let channels = channels.checked_div(options.groups).unwrap_or(channels);
        let (weight, bound) = kernels(outputs, channels, &kernel.sizes())?;
        Ok(Self {
            weight,
            bias: Some(Param::new(uniform(&[outputs], -bound, bound)?)),
            options,
        })
    }
}

/// Draws a weight of `rows` by `columns` kernels like PyTorch, whose bounds depend on the columns; returns the bound.
pub(super) fn kernels<D: Dims + Distinct, T: Inexact>(
    rows: usize,
    columns: usize,
    kernel: &[usize],
) -> Result<(Param<D, T>, f64)> {
    let bound = 1.0 / (columns as f64 * product(kernel)).max(1.0).sqrt();
    let sizes = [&[rows, columns], kernel].concat();
    Ok((Param::new(uniform(&sizes, -bound, bound)?), bound))
}

/// Returns the operator along `S` dims.
pub(super) const fn along<const S: usize>(ops: [Op; 3]) -> Op {
    assert!(
        S >= 1 && S <= 3,
        "a convolution is along one, two or three dims"
    );
    ops[S - 1]
}

/// Computes a convolution, or its transpose, whose weight has output channels and channels at dims 0 and 1, or 1 and 0.
pub(super) fn filtered<D: Dims, A: Axes, C: Dim, O: Dim, T: Element>(
    x: &Tensor<D, T>,
    (weight, bias): (&DynTensor, Option<&DynTensor>),
    outputs: usize,
    compute: impl FnOnce(&Raw, &Raw, Option<&Raw>, &ConvSites<'_>) -> Result<Raw>,
) -> Result<Tensor<WithChannels<D, C, O>, T>>
where
    WithChannels<D, C, O>: Distinct,
{
    let x = x.to_dyn();
    let channel = position::<C, D>();
    let sites = ConvSites {
        channel,
        spatial: positions::<A, D>(),
        out: outputs,
        weight_channel: 1 - outputs,
        kernel: &[2, 3, 4][..weight.rank().saturating_sub(2).min(3)],
    };
    let raw = weighted(
        x.raw(),
        weight.raw(),
        bias.map(DynTensor::raw),
        |x, weight, bias| compute(x, weight, bias, &sites),
    );
    let raw = raw.map_err(|error| about(error, &[&x, weight]))?;
    // The names that only the run time knows stay.
    let mut names = x.names().clone();
    names.remove(channel);
    names.insert(channel, Names::from_static(&[O::NAME])[0].clone());
    DynTensor::from_parts(raw, names)?.try_into()
}

impl<const S: usize, A: Axes, C: Dim, O: Dim, T: Inexact + Numeric> Conv<S, A, C, O, T> {
    /// Computes the convolution, in which `O` replaces `C`.
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
        let op = const { along::<S>([Op::Conv1d, Op::Conv2d, Op::Conv3d]) };
        let weight = self.weight.to_dyn();
        let bias = self.bias.as_ref().map(|bias| bias.to_dyn());
        filtered::<D, A, C, O, T>(x, (&weight, bias.as_ref()), 0, |x, weight, bias, sites| {
            call::conv(op, x, weight, bias, sites, &self.options.args())
        })
    }
}

#[diagnostic::do_not_recommend]
impl<const S: usize, D: Dims, A: Axes, C: Dim, O: Dim, T: Inexact + Numeric> Layer<Tensor<D, T>>
    for Conv<S, A, C, O, T>
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
