//! Initializers of weights.
//!
//! All take the tensor's sizes, draw from the default generator ([`manual_seed`](nomina::manual_seed)) or the one given
//! to [`with_generator`], and return a tensor that is not a leaf: `Param::new(init::xavier_uniform([3, 2], 1.0))`. The
//! fan of a weight is the number of inputs that an output is summed over (`fan_in`), or the number of outputs that an
//! input contributes to (`fan_out`). As in PyTorch, its first dim counts outputs, its second inputs, and the others
//! both.

use nomina::dims::{Dims, Distinct, ShapeFor};
use nomina::{Float, Generator, Result, Tensor};
use nomina_macros::twin;

use crate::call;

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

/// Draws uniformly between two numbers.
///
/// # Errors
/// If the dims cannot have these sizes, the range is invalid, or an allocation fails.
#[twin(free)]
pub fn try_uniform<D: Dims + Distinct, T: Float>(
    shape: impl ShapeFor<D, T>,
    from: f64,
    to: f64,
) -> Result<Tensor<D, T>> {
    call::uniform(&shape.sizes(), from, to)
}

/// Draws from a normal distribution.
///
/// # Errors
/// If the dims cannot have these sizes, the deviation is invalid, or an allocation fails.
#[twin(free)]
pub fn try_normal<D: Dims + Distinct, T: Float>(
    shape: impl ShapeFor<D, T>,
    mean: f64,
    std: f64,
) -> Result<Tensor<D, T>> {
    call::normal(&shape.sizes(), mean, std)
}

/// Draws uniformly within `gain * sqrt(3 / fan_in)`, which preserves the variance of a layer's inputs after a
/// rectifier. The gain of a rectifier is `sqrt(2)`. He et al., "Delving Deep into Rectifiers".
///
/// # Errors
/// The errors of [`uniform`].
#[twin(free)]
pub fn try_kaiming_uniform<D: Dims + Distinct, T: Float>(
    shape: impl ShapeFor<D, T>,
    gain: f64,
) -> Result<Tensor<D, T>> {
    let bound = gain * (3.0 / fans(&shape.sizes()).0.max(1.0)).sqrt();
    try_uniform(shape, -bound, bound)
}

/// Draws from a normal distribution with a deviation of `gain / sqrt(fan_in)`; see [`kaiming_uniform`].
///
/// # Errors
/// The errors of [`normal`].
#[twin(free)]
pub fn try_kaiming_normal<D: Dims + Distinct, T: Float>(
    shape: impl ShapeFor<D, T>,
    gain: f64,
) -> Result<Tensor<D, T>> {
    let std = gain / fans(&shape.sizes()).0.max(1.0).sqrt();
    try_normal(shape, 0.0, std)
}

/// Draws uniformly within `gain * sqrt(6 / (fan_in + fan_out))`. Glorot and Bengio, "Understanding the difficulty of
/// training deep feedforward neural networks".
///
/// # Errors
/// The errors of [`uniform`].
#[twin(free)]
pub fn try_xavier_uniform<D: Dims + Distinct, T: Float>(
    shape: impl ShapeFor<D, T>,
    gain: f64,
) -> Result<Tensor<D, T>> {
    let (inputs, outputs) = fans(&shape.sizes());
    let bound = gain * (6.0 / (inputs + outputs).max(1.0)).sqrt();
    try_uniform(shape, -bound, bound)
}

/// Draws from a normal distribution with a deviation of `gain * sqrt(2 / (fan_in + fan_out))`; see [`xavier_uniform`].
///
/// # Errors
/// The errors of [`normal`].
#[twin(free)]
pub fn try_xavier_normal<D: Dims + Distinct, T: Float>(
    shape: impl ShapeFor<D, T>,
    gain: f64,
) -> Result<Tensor<D, T>> {
    let (inputs, outputs) = fans(&shape.sizes());
    let std = gain * (2.0 / (inputs + outputs).max(1.0)).sqrt();
    try_normal(shape, 0.0, std)
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
