//! Normalisations.

use nomina::dims::{Axes, AxesOf, Dim, DimOf, Dims, Distinct, SizesFor};
use nomina::{BatchNormOptions, Element, Float, LayerNormOptions, Result, RmsNormOptions, Tensor};
use nomina_macros::twin;

use crate::Module;
use crate::call::full;
use crate::param::Param;

/// Mean 0 and variance 1 over `A`, a dim or a tuple of dims; then a weight and a bias. Ba, Kiros and Hinton, "Layer
/// Normalization".
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
    /// What results are multiplied by: ones at first.
    pub weight: Param<A::List, T>,
    /// What is added then: zeros at first.
    pub bias: Option<Param<A::List, T>>,
    /// What is added to the variance: 1e-5 at first.
    #[module(skip)]
    pub eps: f64,
}

impl<A: Axes> LayerNorm<A>
where
    A::List: Distinct,
{
    /// A weight of ones and a bias of zeros.
    ///
    /// # Errors
    /// When memory is short.
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
    /// The normalised input.
    ///
    /// # Errors
    /// When sizes differ from the weight's, or memory is short.
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

/// Divided by the root of the mean square over `A`, a dim or a tuple of dims; then a weight. Zhang and Sennrich, "Root Mean
/// Square Layer Normalization".
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
    /// What results are multiplied by: ones at first.
    pub weight: Param<A::List, T>,
    /// What is added to the mean square: the dtype's least step at 1, where it is `None`.
    #[module(skip)]
    pub eps: Option<f64>,
}

impl<A: Axes> RmsNorm<A>
where
    A::List: Distinct,
{
    /// A weight of ones.
    ///
    /// # Errors
    /// When memory is short.
    #[twin]
    pub fn try_new(sizes: impl SizesFor<A>) -> Result<Self> {
        Ok(Self {
            weight: Param::new(full(&sizes.sizes(), 1.0)?),
            eps: None,
        })
    }
}

impl<A: Axes + Default, T: Float> RmsNorm<A, T> {
    /// The normalised input.
    ///
    /// # Errors
    /// When sizes differ from the weight's, or memory is short.
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

/// Mean 0 and variance 1 of each channel along `C`, over all other dims; then a weight and a bias. Training takes the batch's
/// statistics and keeps running ones, which inference takes. Ioffe and Szegedy, "Batch Normalization".
///
/// ```
/// use nomina::prelude::*;
/// use nomina_nn::prelude::*;
/// dims! { N, C, H, W }
/// let mut norm = BatchNorm::new(C.of(3));
/// let x = Tensor::<(N, C, H, W)>::randn([4, 3, 5, 5]);
/// let trained = norm.train(&x);
/// let y = norm.forward(&x);
/// assert_eq!(y.shape(), trained.shape());
/// ```
#[derive(Clone, Module)]
#[module(crate = crate)]
pub struct BatchNorm<C: Dim, T: Element = f32> {
    /// A factor for each channel: ones at first.
    pub weight: Param<(C,), T>,
    /// A summand for each channel: zeros at first.
    pub bias: Param<(C,), T>,
    /// The running mean: zeros at first.
    pub running_mean: Tensor<(C,), T>,
    /// The running variance: ones at first.
    pub running_var: Tensor<(C,), T>,
    /// How much of a batch's statistics goes into the running ones: 0.1 at first.
    #[module(skip)]
    pub momentum: f64,
    /// What is added to the variance: 1e-5 at first.
    #[module(skip)]
    pub eps: f64,
}

impl<C: Dim> BatchNorm<C>
where
    (C,): Distinct,
{
    /// Weights of ones, biases of zeros, and running statistics of mean 0 and variance 1.
    ///
    /// # Errors
    /// When memory is short.
    #[twin]
    pub fn try_new(channels: impl SizesFor<C>) -> Result<Self> {
        let sizes = channels.sizes();
        Ok(Self {
            weight: Param::new(full(&sizes, 1.0)?),
            bias: Param::new(full(&sizes, 0.0)?),
            running_mean: full(&sizes, 0.0)?,
            running_var: full(&sizes, 1.0)?,
            momentum: 0.1,
            eps: 1e-5,
        })
    }
}

impl<C: Dim, T: Float> BatchNorm<C, T> {
    fn options(&self) -> BatchNormOptions<'_, (C,), T> {
        BatchNormOptions {
            weight: Some(&self.weight),
            bias: Some(&self.bias),
            momentum: self.momentum,
            eps: self.eps,
        }
    }

    /// The input normalised by the running statistics.
    ///
    /// # Errors
    /// When sizes differ from the weight's, or memory is short.
    #[twin]
    pub fn try_forward<D: Dims>(&self, x: &Tensor<D, T>) -> Result<Tensor<D, T>>
    where
        C: DimOf<D>,
    {
        x.try_batch_norm_eval(
            C::default(),
            &self.running_mean,
            &self.running_var,
            self.options(),
        )
    }

    /// The input normalised by its own statistics, which go into the running ones.
    ///
    /// # Errors
    /// When sizes differ from the weight's, a channel has less than two numbers (an empty batch has none), or memory is short.
    /// The running statistics are unchanged then.
    #[twin]
    pub fn try_train<D: Dims>(&mut self, x: &Tensor<D, T>) -> Result<Tensor<D, T>>
    where
        C: DimOf<D>,
    {
        let (mut mean, mut var) = (self.running_mean.clone(), self.running_var.clone());
        let found = x.try_batch_norm_train(C::default(), &mut mean, &mut var, self.options())?;
        (self.running_mean, self.running_var) = (mean, var);
        Ok(found)
    }
}
