//! Initializers of weights.
//!
//! All take the tensor's sizes, draw from the default generator ([`manual_seed`](nomina::manual_seed)) or the one given
//! to [`with_generator`], and return a tensor that is not a leaf: `Param::new(init::xavier_uniform([3, 2], 1.0))`. The
//! fan of a weight is the number of inputs that an output is summed over (`fan_in`), or the number of outputs that an
//! input contributes to (`fan_out`). As in PyTorch, its first dim counts outputs, its second inputs, and the others
//! both. The [gain](Nonlinearity::gain) belongs to the activation that follows.
//!
//! Each function has a form that fills a parameter in place, whose name ends in `_`.
//!
//! ```
//! use nomina::prelude::*;
//! use nomina_nn::init::{self, Nonlinearity};
//! use nomina_nn::prelude::*;
//! dims! { In, Out }
//! let mut layer = Linear::new(In.of(64), Out.of(32));
//! init::kaiming_normal_(&mut layer.weight, Nonlinearity::Relu.gain());
//! init::constant_(&mut layer.bias, 0.01);
//! # assert_eq!(layer.bias.unwrap().to_vec(), [0.01; 32]);
//! ```

mod shaped;

use nomina::dims::{Dims, Distinct, ShapeFor};
use nomina::{Float, Generator, Result, Tensor};
use nomina_macros::twin;

use crate::{Param, call};

/// An activation, for the [gain](Self::gain) of the weights before it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Nonlinearity {
    /// None, or a sigmoid.
    Linear,
    /// A rectifier.
    Relu,
    /// A rectifier with this slope for negative numbers.
    LeakyRelu(f64),
    /// The hyperbolic tangent.
    Tanh,
    /// A self-normalising exponential unit.
    Selu,
}

impl Nonlinearity {
    /// Returns the recommended gain, as PyTorch's `calculate_gain`.
    ///
    /// ```
    /// use nomina_nn::init::Nonlinearity;
    /// assert_eq!(Nonlinearity::Relu.gain(), 2_f64.sqrt());
    /// assert_eq!(Nonlinearity::LeakyRelu(1.0).gain(), 1.0);
    /// ```
    #[must_use]
    pub fn gain(self) -> f64 {
        match self {
            Self::Linear => 1.0,
            Self::Relu => 2_f64.sqrt(),
            Self::LeakyRelu(slope) => (2.0 / (1.0 + slope * slope)).sqrt(),
            Self::Tanh => 5.0 / 3.0,
            Self::Selu => 0.75,
        }
    }
}

/// Creates a model without weights, to be loaded later: all weights are zeros that take no memory, and nothing is
/// drawn.
///
/// ```
/// use nomina::prelude::*;
/// use nomina_nn::{init, prelude::*};
/// dims! { In, Out }
/// let mut layer = init::unset(|| Linear::new(In.of(1_000_000), Out.of(1_000_000)));
/// assert_eq!(layer.count(), 1_000_001_000_000);
/// # let mut layer = init::unset(|| Linear::new(In.of(3), Out.of(2)));
/// # let (weight, bias) = (DynTensor::ones(&[2, 3], ())?, DynTensor::ones(&[2], ())?);
/// layer.load([("weight", weight), ("bias", bias)]);
/// # Ok::<(), Error>(())
/// ```
pub fn unset<M>(make: impl FnOnce() -> M) -> M {
    call::unset(make)
}

/// Creates a model, or one weight, from the given generator, like PyTorch's `generator=`: other draws do not affect it.
///
/// ```
/// use nomina::prelude::*;
/// use nomina_nn::{init, prelude::*};
/// dims! { In, Out }
/// let mut own = Generator::new(7);
/// let first = init::with_generator(&mut own, || Linear::new(In.of(3), Out.of(2)));
/// let second = init::with_generator(&mut own, || Linear::new(In.of(3), Out.of(2)));
/// let again = init::with_generator(&mut Generator::new(7), || Linear::new(In.of(3), Out.of(2)));
/// assert!(first.weight.equal(&again.weight) && !first.weight.equal(&second.weight));
/// # let w: Tensor<(Out, In)> = init::with_generator(&mut own, || init::xavier_normal([2, 3], 1.0));
/// # assert_eq!(w.shape(), [2, 3]);
/// ```
pub fn with_generator<M>(generator: &mut Generator, make: impl FnOnce() -> M) -> M {
    call::with_generator(generator, make)
}

/// Returns the fan-in and the fan-out of a weight with these sizes.
fn fans(sizes: &[usize]) -> (f64, f64) {
    let window: f64 = sizes.iter().skip(2).map(|&size| size as f64).product();
    let first = sizes.first().map_or(1.0, |&size| size as f64);
    let second = sizes.get(1).map_or(first, |&size| size as f64);
    (second * window, first * window)
}

/// A parameter, or an optional one, such as a bias: `None` is left as it is.
pub trait Fillable {
    /// The dims of the parameter.
    type Dims: Dims + Distinct;
    /// The dtype of the parameter.
    type Dtype: Float;
    /// Returns the parameter.
    #[doc(hidden)]
    fn param_mut(&mut self) -> Option<&mut Param<Self::Dims, Self::Dtype>>;
}

#[diagnostic::do_not_recommend]
impl<D: Dims + Distinct, T: Float> Fillable for Param<D, T> {
    type Dims = D;
    type Dtype = T;
    fn param_mut(&mut self) -> Option<&mut Self> {
        Some(self)
    }
}

#[diagnostic::do_not_recommend]
impl<D: Dims + Distinct, T: Float> Fillable for Option<Param<D, T>> {
    type Dims = D;
    type Dtype = T;
    fn param_mut(&mut self) -> Option<&mut Param<D, T>> {
        self.as_mut()
    }
}

/// Defines a function that creates a weight, and one that fills a parameter in place.
macro_rules! initializers {
    ($($(#[$doc:meta])* $created:ident $filled:ident ($($arg:ident: $ty:ty),*) |$sizes:ident| $value:expr;)*) => {$(
        $(#[$doc])*
        #[twin(free)]
        pub fn $created<D: Dims + Distinct, T: Float>(
            shape: impl ShapeFor<D, T>,
            $($arg: $ty),*
        ) -> Result<Tensor<D, T>> {
            let $sizes = &shape.sizes()[..];
            $value
        }

        /// Like the function without `_`, but fills a parameter in place, like PyTorch's `torch.nn.init`: its gradient,
        /// and an optimizer's state for it, stay.
        ///
        /// # Errors
        /// The errors of the function without `_`.
        #[twin(free)]
        pub fn $filled<P: Fillable>(param: &mut P, $($arg: $ty),*) -> Result<()> {
            let Some(param) = param.param_mut() else {
                return Ok(());
            };
            let value: Result<Tensor<P::Dims, P::Dtype>> = {
                let $sizes = param.shape();
                $value
            };
            param.try_set(value?)
        }
    )*};
}
initializers! {
    /// Draws uniformly between two numbers.
    ///
    /// # Errors
    /// If the dims cannot have these sizes, the range is invalid, or an allocation fails.
    try_uniform try_uniform_ (from: f64, to: f64) |sizes| call::uniform(sizes, from, to);

    /// Draws from a normal distribution.
    ///
    /// # Errors
    /// If the dims cannot have these sizes, the deviation is invalid, or an allocation fails.
    try_normal try_normal_ (mean: f64, std: f64) |sizes| call::normal(sizes, mean, std);

    /// Draws from a normal distribution, whose numbers outside of `from` to `to` are drawn again.
    ///
    /// # Errors
    /// The errors of [`normal`].
    try_trunc_normal try_trunc_normal_ (mean: f64, std: f64, from: f64, to: f64)
        |sizes| shaped::trunc_normal(sizes, (mean, std), (from, to));

    /// Fills with a number.
    ///
    /// # Errors
    /// If the dims cannot have these sizes, or an allocation fails.
    try_constant try_constant_ (value: f64) |sizes| call::full(sizes, value);

    /// Returns the identity: a matrix with 1 on its diagonal and 0 elsewhere.
    ///
    /// # Errors
    /// If there are not two dims; also the errors of [`constant`].
    try_eye try_eye_ () |sizes| shaped::eye(sizes);

    /// Draws rows that are orthogonal to each other, each of length `gain`; if there are more rows than columns, the
    /// columns are. The first dim counts rows, all others columns. Saxe et al., "Exact solutions to the nonlinear
    /// dynamics of learning in deep linear neural networks".
    ///
    /// # Errors
    /// If there are fewer than two dims; also the errors of [`normal`].
    try_orthogonal try_orthogonal_ (gain: f64) |sizes| shaped::orthogonal(sizes, gain);

    /// Draws uniformly within `gain * sqrt(3 / fan_in)`, which preserves the variance of a layer's inputs after an
    /// activation with this [gain](Nonlinearity::gain). He et al., "Delving Deep into Rectifiers".
    ///
    /// # Errors
    /// The errors of [`uniform`].
    try_kaiming_uniform try_kaiming_uniform_ (gain: f64) |sizes| {
        let bound = gain * (3.0 / fans(sizes).0.max(1.0)).sqrt();
        call::uniform(sizes, -bound, bound)
    };

    /// Draws from a normal distribution with a deviation of `gain / sqrt(fan_in)`; see [`kaiming_uniform`].
    ///
    /// # Errors
    /// The errors of [`normal`].
    try_kaiming_normal try_kaiming_normal_ (gain: f64)
        |sizes| call::normal(sizes, 0.0, gain / fans(sizes).0.max(1.0).sqrt());

    /// Draws uniformly within `gain * sqrt(6 / (fan_in + fan_out))`. Glorot and Bengio, "Understanding the difficulty of
    /// training deep feedforward neural networks".
    ///
    /// # Errors
    /// The errors of [`uniform`].
    try_xavier_uniform try_xavier_uniform_ (gain: f64) |sizes| {
        let (inputs, outputs) = fans(sizes);
        let bound = gain * (6.0 / (inputs + outputs).max(1.0)).sqrt();
        call::uniform(sizes, -bound, bound)
    };

    /// Draws from a normal distribution with a deviation of `gain * sqrt(2 / (fan_in + fan_out))`; see
    /// [`xavier_uniform`].
    ///
    /// # Errors
    /// The errors of [`normal`].
    try_xavier_normal try_xavier_normal_ (gain: f64) |sizes| {
        let (inputs, outputs) = fans(sizes);
        call::normal(sizes, 0.0, gain * (2.0 / (inputs + outputs).max(1.0)).sqrt())
    };
}

#[cfg(test)]
mod tests {
    use nomina::prelude::*;

    use super::*;

    dims! { Out, In, K }

    #[test]
    fn bounds_are_those_of_the_formulas() {
        manual_seed(1);
        let w: Tensor<(Out, In, K)> = kaiming_uniform([40, 10, 5], 2f64.sqrt());
        let bound = (6.0_f32 / 50.0).sqrt();
        assert!(w.abs().max(..).item() <= bound && w.abs().max(..).item() > 0.95 * bound);
        let w: Tensor<(Out, In), f64> = xavier_normal([300, 200], 1.0);
        let std = w.std(..).item();
        assert!((std - (2.0_f64 / 500.0).sqrt()).abs() < 0.01 * std, "{std}");
        let w: Tensor<(Out, In)> = xavier_uniform([300, 200], 1.0);
        assert!(w.abs().max(..).item() <= (6.0_f32 / 500.0).sqrt());
        let w: Tensor<(Out, In)> = kaiming_normal([300, 200], 1.0);
        assert!((w.std(..).item() - 1.0 / 200f32.sqrt()).abs() < 1e-3);
    }

    #[test]
    fn a_lent_generator_comes_back_as_far_as_it_was_drawn() {
        let draw = || -> Tensor<(Out, In)> { uniform([2, 3], 0.0, 1.0) };
        let (mut own, mut beside) = (Generator::new(1), Generator::new(1));
        // One call nested in another, and one that fails.
        let (first, inner) = with_generator(&mut own, || {
            let first = draw();
            (first, with_generator(&mut Generator::new(1), draw))
        });
        assert!(first.equal(&inner));
        let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            with_generator(&mut own, || -> Tensor<(Out, In)> {
                uniform([2, 3], 1.0, 0.0)
            })
        }));
        assert!(failed.is_err());
        with_generator(&mut beside, draw);
        assert!(with_generator(&mut own, draw).equal(&with_generator(&mut beside, draw)));
    }
}
