//! Dropout.

use nomina::dims::Dims;
use nomina::{DropoutOptions, Float, Generator, Result, Tensor};
use nomina_macros::twin;

use crate::{Mode, Module};

/// Dropout: in training, sets elements to zero with a probability, and scales the others so that the mean is preserved.
/// Srivastava et al., "Dropout".
///
/// ```
/// use nomina::prelude::*;
/// use nomina_nn::prelude::*;
/// dims! { N }
/// let dropout = Dropout::new(0.5);
/// let x = Tensor::<(N,)>::ones([1000]);
/// assert!(dropout.forward(&x, Mode::Eval).equal(&x));
/// assert!(dropout.forward(&x, Mode::Train).to_vec().iter().all(|&x| x == 0.0 || x == 2.0));
/// ```
#[derive(Clone, Copy, Debug, Module)]
#[module(crate = crate)]
pub struct Dropout {
    /// The probability.
    #[module(skip)]
    pub p: f64,
}

impl Dropout {
    /// Creates a layer with a probability from 0 to 1.
    #[must_use]
    pub const fn new(p: f64) -> Self {
        Self { p }
    }

    /// Drops elements of the input in training; otherwise returns it unchanged.
    ///
    /// # Errors
    /// If the probability is invalid, or an allocation fails.
    #[twin]
    pub fn try_forward<D: Dims, T: Float>(
        &self,
        x: &Tensor<D, T>,
        mode: Mode,
    ) -> Result<Tensor<D, T>> {
        x.try_dropout_with(self.options(mode))
    }

    /// [`forward`](Self::forward), drawing from the given generator.
    ///
    /// # Errors
    /// If the probability is invalid, or an allocation fails.
    #[twin]
    pub fn try_forward_from<D: Dims, T: Float>(
        &self,
        x: &Tensor<D, T>,
        mode: Mode,
        generator: &mut Generator,
    ) -> Result<Tensor<D, T>> {
        x.try_dropout_from(self.options(mode), generator)
    }

    pub(super) const fn options(self, mode: Mode) -> DropoutOptions {
        DropoutOptions {
            p: self.p,
            training: mode.is_train(),
        }
    }
}

#[cfg(test)]
mod tests {
    use nomina::prelude::*;

    use super::*;

    dims! { N }

    #[test]
    fn a_generator_of_its_own_says_which() {
        let (dropout, x) = (Dropout::new(0.5), Tensor::<(N,)>::ones([100]));
        let mut generator = Generator::new(3);
        let first = dropout.forward_from(&x, Mode::Train, &mut generator);
        let second = dropout.forward_from(&x, Mode::Train, &mut generator);
        let again = dropout.forward_from(&x, Mode::Train, &mut Generator::new(3));
        assert!(first.equal(&again) && !first.equal(&second));
        assert!(
            dropout
                .forward_from(&x, Mode::Eval, &mut generator)
                .equal(&x)
        );
    }
}
