//! Normalization layers.

use nomina::dims::{Axes, AxesOf, Dim, DimOf, Dims, Distinct, SizesFor};
use nomina::{BatchNormOptions, Element, Float, LayerNormOptions, Result, RmsNormOptions, Tensor};
use nomina_macros::twin;

use crate::buffer::Buffer;
use crate::call::full;
use crate::param::Param;
use crate::{Mode, Module};

/// Layer normalization: to mean 0 and variance 1 over `A`, a dim or a tuple of dims; then applies a weight and a bias.
/// Ba, Kiros and Hinton, "Layer Normalization".
///
/// ```
/// use nomina::prelude::*;
/// use nomina_nn::prelude::*;
/// dims! { N, Seq, Hidden }
/// let norm = LayerNorm::new(Hidden.of(4));
/// let y = norm.forward(&Tensor::<(N, Seq, Hidden)>::randn([2, 3, 4]));
/// assert!(y.mean(Hidden).abs().max(..).item() < 1e-6);
/// ```
#[derive(Clone, Module)]
#[module(crate = crate)]
pub struct LayerNorm<A: Axes, T: Element = f32> {
    /// The factor of the results; initially ones.
    pub weight: Param<A::List, T>,
    /// The summand of the results; initially zeros.
    pub bias: Option<Param<A::List, T>>,
    /// The summand of the variance; initially 1e-5.
    #[module(skip)]
    pub eps: f64,
}

impl<A: Axes> LayerNorm<A>
where
    A::List: Distinct,
{
    /// Creates a layer with a weight of ones and a bias of zeros.
    ///
    /// # Errors
    /// If an allocation fails.
    #[twin]
    pub fn try_new(sizes: impl SizesFor<A>) -> Result<Self> {
        let sizes = sizes.sizes();
        Ok(Self {
            weight: Param::new(full(&sizes, 1.0)?),
            bias: Some(Param::new(full(&sizes, 0.0)?)),
            eps: 1e-5,
        })
    }
}

impl<A: Axes + Default, T: Float> LayerNorm<A, T> {
    /// Normalizes the input.
    ///
    /// # Errors
    /// If sizes differ from the weight's, or an allocation fails.
    #[twin]
    pub fn try_forward<D: Dims>(&self, x: &Tensor<D, T>) -> Result<Tensor<D, T>>
    where
        A: AxesOf<D>,
    {
        let options = LayerNormOptions {
            weight: Some(&self.weight),
            bias: self.bias.as_deref(),
            eps: self.eps,
        };
        x.try_layer_norm_with(A::default(), options)
    }
}

/// Root mean square normalization: divides by the root of the mean square over `A`, a dim or a tuple of dims; then
/// applies a weight. Zhang and Sennrich, "Root Mean Square Layer Normalization".
///
/// ```
/// use nomina::prelude::*;
/// use nomina_nn::prelude::*;
/// dims! { N, Hidden }
/// let norm = RmsNorm::new(Hidden.of(2));
/// let y = norm.forward(&tensor!([[3., 4.]]; N, Hidden));
/// assert!((y.square().mean(..).item() - 1.0).abs() < 1e-6);
/// ```
#[derive(Clone, Module)]
#[module(crate = crate)]
pub struct RmsNorm<A: Axes, T: Element = f32> {
    /// The factor of the results; initially ones.
    pub weight: Param<A::List, T>,
    /// The summand of the mean square; if `None`, the dtype's epsilon.
    #[module(skip)]
    pub eps: Option<f64>,
}

impl<A: Axes> RmsNorm<A>
where
    A::List: Distinct,
{
    /// Creates a layer with a weight of ones.
    ///
    /// # Errors
    /// If an allocation fails.
    #[twin]
    pub fn try_new(sizes: impl SizesFor<A>) -> Result<Self> {
        Ok(Self {
            weight: Param::new(full(&sizes.sizes(), 1.0)?),
            eps: None,
        })
    }
}

impl<A: Axes + Default, T: Float> RmsNorm<A, T> {
    /// Normalizes the input.
    ///
    /// # Errors
    /// If sizes differ from the weight's, or an allocation fails.
    #[twin]
    pub fn try_forward<D: Dims>(&self, x: &Tensor<D, T>) -> Result<Tensor<D, T>>
    where
        A: AxesOf<D>,
    {
        let options = RmsNormOptions {
            weight: Some(&self.weight),
            eps: self.eps,
        };
        x.try_rms_norm_with(A::default(), options)
    }
}

/// Batch normalization: each channel along `C` to mean 0 and variance 1 over all other dims; then applies a weight and
/// a bias. Training uses the batch's statistics and updates running ones, which evaluation uses. Ioffe and Szegedy,
/// "Batch Normalization".
///
/// ```
/// use nomina::prelude::*;
/// use nomina_nn::prelude::*;
/// dims! { N, C, H, W }
/// let norm = BatchNorm::new(C.of(3));
/// let x = Tensor::<(N, C, H, W)>::randn([4, 3, 5, 5]);
/// let trained = norm.forward(&x, Mode::Train);
/// assert!(trained.mean((N, H, W)).abs().max(..).item() < 1e-6);
/// let evaluated = norm.forward(&x, Mode::Eval);
/// assert!(!evaluated.equal(&trained));
/// ```
#[derive(Clone, Module)]
#[module(crate = crate)]
pub struct BatchNorm<C: Dim, T: Element = f32> {
    /// The factor of each channel; initially ones.
    pub weight: Param<(C,), T>,
    /// The summand of each channel; initially zeros.
    pub bias: Param<(C,), T>,
    /// The running mean; initially zeros.
    pub running_mean: Buffer<(C,), T>,
    /// The running variance; initially ones.
    pub running_var: Buffer<(C,), T>,
    /// The number of batches that the running statistics come from.
    pub num_batches_tracked: Buffer<(), i64>,
    /// The weight of a batch's statistics in the update of the running ones, initially 0.1. If `None`, all batches have
    /// the same weight.
    #[module(skip)]
    pub momentum: Option<f64>,
    /// The summand of the variance; initially 1e-5.
    #[module(skip)]
    pub eps: f64,
}

impl<C: Dim> BatchNorm<C>
where
    (C,): Distinct,
{
    /// Creates a layer with weights of ones, biases of zeros, and running statistics of mean 0 and variance 1.
    ///
    /// # Errors
    /// If an allocation fails.
    #[twin]
    pub fn try_new(channels: impl SizesFor<C>) -> Result<Self> {
        let sizes = channels.sizes();
        Ok(Self {
            weight: Param::new(full(&sizes, 1.0)?),
            bias: Param::new(full(&sizes, 0.0)?),
            running_mean: Buffer::new(full(&sizes, 0.0)?),
            running_var: Buffer::new(full(&sizes, 1.0)?),
            num_batches_tracked: Buffer::new(full(&[], 0.0)?),
            momentum: Some(0.1),
            eps: 1e-5,
        })
    }
}

impl<C: Dim, T: Float> BatchNorm<C, T> {
    /// Normalizes the input: in training by its own statistics, with which the running ones are updated, otherwise by
    /// the running ones.
    ///
    /// # Errors
    /// If sizes differ from the weight's, or an allocation fails. In training, also if a channel has fewer than two
    /// numbers. The running statistics are unchanged then.
    #[twin]
    pub fn try_forward<D: Dims>(&self, x: &Tensor<D, T>, mode: Mode) -> Result<Tensor<D, T>>
    where
        C: DimOf<D>,
    {
        let options = BatchNormOptions {
            weight: Some(&self.weight),
            bias: Some(&self.bias),
            momentum: self.momentum.unwrap_or_default(),
            eps: self.eps,
        };
        let c = C::default();
        if !mode.is_train() {
            let (mean, var) = (self.running_mean.get(), self.running_var.get());
            return x.try_batch_norm_eval(c, &mean, &var, options);
        }
        // Locks are always taken in this order, and held until all three buffers are updated.
        let mut batches = self.num_batches_tracked.lock();
        let (mut running_mean, mut running_var) =
            (self.running_mean.lock(), self.running_var.lock());
        let counted = batches.try_add(1_i64)?;
        let options = BatchNormOptions {
            // The number is on the device, and only read if it is needed.
            momentum: match self.momentum {
                Some(momentum) => momentum,
                None => 1.0 / counted.try_item()? as f64,
            },
            ..options
        };
        let (mut mean, mut var) = (running_mean.clone(), running_var.clone());
        let normalized = x.try_batch_norm_train(c, &mut mean, &mut var, options)?;
        (*running_mean, *running_var, *batches) = (mean, var, counted);
        Ok(normalized)
    }
}
