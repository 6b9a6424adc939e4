//! Group and instance normalization.

use std::marker::PhantomData;

use nomina::dims::{Axes, AxesOf, Dim, DimOf, Dims, Distinct, SizesFor, position, positions};
use nomina::{
    BatchNormOptions, DynTensor, Element, Error, ErrorKind, Float, LayerNormOptions, Result,
    Tensor, Typed,
};
use nomina_macros::twin;

use super::Layer;
use crate::buffer::Buffer;
use crate::call::full;
use crate::param::Param;
use crate::{Mode, Module};

/// Group normalization: each group of channels along `C`, together with the dims `A`, to mean 0 and variance 1; then
/// applies a weight and a bias per channel. All other dims are batch dims. Without spatial dims, `A` is `C`, too. Wu and
/// He, "Group Normalization".
///
/// ```
/// use nomina::prelude::*;
/// use nomina_nn::prelude::*;
/// dims! { N, C, H, W }
/// let norm = GroupNorm::<(H, W), C>::new(C.of(6), 3);
/// let y = norm.forward(&Tensor::<(N, C, H, W)>::randn([2, 6, 4, 4]));
/// // The first of three groups of two channels.
/// assert!(y.narrow(C, ..2).mean((C, H, W)).abs().max(..).item() < 1e-6);
///
/// let flat = GroupNorm::<C, C>::new(C.of(6), 2);
/// let y = flat.forward(&Tensor::<(N, C)>::randn([2, 6]));
/// assert!(y.narrow(C, ..3).mean(C).abs().max(..).item() < 1e-6);
/// ```
#[derive(Clone, Module)]
#[module(crate = crate)]
pub struct GroupNorm<A: Axes, C: Dim, T: Element = f32> {
    /// The factor of each channel; initially ones.
    pub weight: Option<Param<(C,), T>>,
    /// The summand of each channel; initially zeros.
    pub bias: Option<Param<(C,), T>>,
    /// The number of groups.
    #[module(skip)]
    pub groups: usize,
    /// The summand of the variance; initially 1e-5.
    #[module(skip)]
    pub eps: f64,
    #[module(skip)]
    dims: PhantomData<A>,
}

impl<A: Axes, C: Dim> GroupNorm<A, C>
where
    (C,): Distinct,
{
    /// Creates a layer with a weight of ones and a bias of zeros. Set both to `None` for PyTorch's `affine=False`.
    ///
    /// # Errors
    /// If the groups do not divide the channels, or an allocation fails.
    #[twin]
    pub fn try_new(channels: impl SizesFor<C>, groups: usize) -> Result<Self> {
        let sizes = channels.sizes();
        if groups == 0 || sizes[0] % groups != 0 {
            let what = format!("{} channels in {groups} groups", sizes[0]);
            return Err(Error::new(ErrorKind::Argument, "group_norm", what)
                .hint("give a number of groups that divides the channels"));
        }
        Ok(Self {
            weight: Some(Param::new(full(&sizes, 1.0)?)),
            bias: Some(Param::new(full(&sizes, 0.0)?)),
            groups,
            eps: 1e-5,
            dims: PhantomData,
        })
    }
}

impl<A: Axes + Default, C: Dim, T: Float> GroupNorm<A, C, T> {
    /// Normalizes the input.
    ///
    /// # Errors
    /// If sizes differ from the weight's, or an allocation fails.
    #[twin]
    pub fn try_forward<D: Dims>(&self, x: &Tensor<D, T>) -> Result<Tensor<D, T>>
    where
        C: DimOf<D>,
        A: AxesOf<D>,
    {
        let options = LayerNormOptions {
            weight: self.weight.as_deref(),
            bias: self.bias.as_deref(),
            eps: self.eps,
        };
        x.try_group_norm_with(C::default(), A::default(), self.groups, options)
    }
}

/// Instance normalization: each channel along `C` of each sample to mean 0 and variance 1 over the dims `A`; then
/// applies a weight and a bias per channel, if there are any. All dims but `A` and `C` are batch dims. With
/// [`track_running_stats`](InstanceNormOptions::track_running_stats), evaluation uses running statistics. Ulyanov,
/// Vedaldi and Lempitsky, "Instance Normalization".
///
/// ```
/// use nomina::prelude::*;
/// use nomina_nn::prelude::*;
/// dims! { N, C, H, W }
/// let x = Tensor::<(N, C, H, W)>::randn([2, 3, 4, 4]);
/// let norm = InstanceNorm::<(H, W), C>::new(C.of(3));
/// assert!(norm.forward(&x, Mode::Train).mean((H, W)).abs().max(..).item() < 1e-6);
/// assert_eq!(norm.count(), 0);
///
/// let options = InstanceNormOptions { affine: true, track_running_stats: true, ..default() };
/// let norm = InstanceNorm::<(H, W), C>::with(C.of(3), options);
/// let _ = norm.forward(&x, Mode::Train);
/// let y = norm.forward(&x, Mode::Eval);
/// ```
#[derive(Clone, Module)]
#[module(crate = crate)]
pub struct InstanceNorm<A: Axes, C: Dim, T: Element = f32> {
    /// The factor of each channel; initially ones.
    pub weight: Option<Param<(C,), T>>,
    /// The summand of each channel; initially zeros.
    pub bias: Option<Param<(C,), T>>,
    /// The running mean; initially zeros.
    pub running_mean: Option<Buffer<(C,), T>>,
    /// The running variance; initially ones.
    pub running_var: Option<Buffer<(C,), T>>,
    /// A number that PyTorch's files have. PyTorch never increases it, and neither does this layer.
    pub num_batches_tracked: Option<Buffer<(), i64>>,
    /// The weight of a batch's statistics in the update of the running ones.
    #[module(skip)]
    pub momentum: f64,
    /// The summand of the variance.
    #[module(skip)]
    pub eps: f64,
    #[module(skip)]
    dims: PhantomData<A>,
}

/// Options of [`InstanceNorm`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InstanceNormOptions {
    /// Whether there are a weight and a bias.
    pub affine: bool,
    /// Whether there are running statistics, which evaluation uses.
    pub track_running_stats: bool,
    /// The weight of a batch's statistics in the update of the running ones.
    pub momentum: f64,
    /// The summand of the variance.
    pub eps: f64,
}

impl Default for InstanceNormOptions {
    fn default() -> Self {
        Self {
            affine: false,
            track_running_stats: false,
            momentum: 0.1,
            eps: 1e-5,
        }
    }
}

impl<A: Axes, C: Dim> InstanceNorm<A, C>
where
    (C,): Distinct,
{
    /// Creates a layer without weights and running statistics, PyTorch's default.
    ///
    /// # Errors
    /// If an allocation fails.
    #[twin]
    pub fn try_new(channels: impl SizesFor<C>) -> Result<Self> {
        Self::try_with(channels, InstanceNormOptions::default())
    }

    /// Like [`new`](Self::new), but with options.
    ///
    /// # Errors
    /// If an allocation fails.
    #[twin]
    pub fn try_with(channels: impl SizesFor<C>, options: InstanceNormOptions) -> Result<Self> {
        let sizes = channels.sizes();
        let param = |value| -> Result<_> {
            let param = options.affine.then(|| full(&sizes, value));
            Ok(param.transpose()?.map(Param::new))
        };
        let statistic = |value| -> Result<_> {
            let buffer = options.track_running_stats.then(|| full(&sizes, value));
            Ok(buffer.transpose()?.map(Buffer::new))
        };
        let count = options.track_running_stats.then(|| full(&[], 0.0));
        Ok(Self {
            weight: param(1.0)?,
            bias: param(0.0)?,
            running_mean: statistic(0.0)?,
            running_var: statistic(1.0)?,
            num_batches_tracked: count.transpose()?.map(Buffer::new),
            momentum: options.momentum,
            eps: options.eps,
            dims: PhantomData,
        })
    }
}

impl<A: Axes + Default, C: Dim, T: Float> InstanceNorm<A, C, T>
where
    (C,): Distinct,
{
    /// Normalizes the input by its own statistics; in evaluation by the running ones, if there are any. Training updates
    /// them by the mean of the statistics of all samples.
    ///
    /// # Errors
    /// If sizes differ from the weight's, or an allocation fails. Without running statistics, and in training, also if
    /// the dims `A` have a single number. The running statistics are unchanged then.
    #[twin]
    pub fn try_forward<D: Dims>(&self, x: &Tensor<D, T>, mode: Mode) -> Result<Tensor<D, T>>
    where
        C: DimOf<D>,
        A: AxesOf<D>,
    {
        let running = self.running_mean.as_ref().zip(self.running_var.as_ref());
        if let (Some((mean, var)), Mode::Eval) = (running, mode) {
            let options = BatchNormOptions {
                weight: self.weight.as_deref(),
                bias: self.bias.as_deref(),
                momentum: 0.0,
                eps: self.eps,
            };
            return x.try_batch_norm_eval(C::default(), &mean.get(), &var.get(), options);
        }
        let options = LayerNormOptions {
            weight: self.weight.as_deref(),
            bias: self.bias.as_deref(),
            eps: self.eps,
        };
        let normalized = x.try_instance_norm_with(A::default(), C::default(), options)?;
        if let Some((mean, var)) = running {
            // Locks are always taken in this order, and held until both buffers are updated.
            let (mut mean, mut var) = (mean.lock(), var.lock());
            let [new_mean, new_var] = self.statistics(
                &x.detach().to_dyn(),
                positions::<A, D>(),
                position::<C, D>(),
            )?;
            let updated = (self.mixed(&mean, &new_mean)?, self.mixed(&var, &new_var)?);
            (*mean, *var) = updated;
        }
        Ok(normalized)
    }

    /// Returns the mean and the unbiased variance of each channel of a sample, averaged over the samples.
    fn statistics(&self, x: &DynTensor, dims: &[usize], channel: usize) -> Result<[DynTensor; 2]> {
        let batch: Vec<usize> = (0..x.rank())
            .filter(|dim| *dim != channel && !dims.contains(dim))
            .collect();
        let averaged = |statistic: &DynTensor| match &batch[..] {
            [] => Ok(statistic.clone()),
            // The dims `A` are gone.
            batch => {
                let left = |dim: &usize| dim - dims.iter().filter(|&gone| gone < dim).count();
                statistic.mean(batch.iter().map(left).collect::<Vec<_>>())
            }
        };
        Ok([averaged(&x.mean(dims)?)?, averaged(&x.var(dims)?)?])
    }

    /// Returns a running statistic with a new one mixed in.
    fn mixed(&self, running: &Tensor<(C,), T>, new: &DynTensor) -> Result<Tensor<(C,), T>> {
        let kept = running.to_dyn().mul(1.0 - self.momentum)?;
        kept.add(&new.mul(self.momentum)?)?.typed()
    }
}

#[diagnostic::do_not_recommend]
impl<D: Dims, A: Axes + Default + AxesOf<D>, C: Dim + DimOf<D>, T: Float> Layer<Tensor<D, T>>
    for GroupNorm<A, C, T>
{
    type Out = Tensor<D, T>;
    fn try_apply(&self, x: &Tensor<D, T>, _: Mode) -> Result<Tensor<D, T>> {
        self.try_forward(x)
    }
}

#[diagnostic::do_not_recommend]
impl<D: Dims, A: Axes + Default + AxesOf<D>, C: Dim + DimOf<D>, T: Float> Layer<Tensor<D, T>>
    for InstanceNorm<A, C, T>
where
    (C,): Distinct,
{
    type Out = Tensor<D, T>;
    fn try_apply(&self, x: &Tensor<D, T>, mode: Mode) -> Result<Tensor<D, T>> {
        self.try_forward(x, mode)
    }
}
