//! Gradient accumulation.

use nomina::Result;
use nomina_macros::twin;

use super::loss::Loss;
use crate::module::Module;

/// Accumulates the gradients of several small batches, so that a step uses their mean.
///
/// ```
/// use nomina::prelude::*;
/// use nomina_nn::optim::Accumulation;
/// use nomina_nn::prelude::*;
/// dims! { N, In, Out }
/// let mut model = Linear::new(In.of(2), Out.of(1));
/// let (mut optimizer, mut accumulation) = (Sgd::new(0.1), Accumulation::new(4));
/// let mut steps = 0;
/// for _ in 0..10 {
///     let x = Tensor::<(N, In)>::randn([8, 2]);
///     if accumulation.backward(model.forward(&x).square().mean(..)) {
///         optimizer.step(&mut model);
///         steps += 1;
///     }
/// }
/// assert_eq!(steps, 2);
/// // Two batches are left over.
/// assert!(accumulation.finish(&model));
/// optimizer.step(&mut model);
/// ```
#[derive(Clone, Debug)]
pub struct Accumulation {
    every: u32,
    pending: u32,
}

impl Accumulation {
    /// Steps after every `every` batches; 0 counts as 1.
    #[must_use]
    pub fn new(every: u32) -> Self {
        Self {
            every: every.max(1),
            pending: 0,
        }
    }

    /// Adds the gradients of a batch's mean loss, divided by the number of batches. Returns whether it is time for a
    /// step.
    ///
    /// # Errors
    /// If the loss cannot be differentiated, or an allocation fails. No gradient has changed then.
    #[twin]
    pub fn try_backward(&mut self, loss: impl Loss) -> Result<bool> {
        let loss = loss.into_loss()?;
        loss.mul(1.0 / f64::from(self.every))?.backward()?;
        self.pending = (self.pending + 1) % self.every;
        Ok(self.pending == 0)
    }

    /// Returns whether gradients of an incomplete group of batches are pending, at the end of an epoch. They are scaled
    /// to the mean of those batches.
    ///
    /// # Errors
    /// If an allocation fails.
    #[twin]
    pub fn try_finish(&mut self, model: &impl Module) -> Result<bool> {
        if self.pending == 0 {
            return Ok(false);
        }
        let factor = f64::from(self.every) / f64::from(self.pending);
        for (_, param) in model.params() {
            if let Some(grad) = param.grad() {
                param.set_grad(&grad.mul(factor)?)?;
            }
        }
        self.pending = 0;
        Ok(true)
    }
}
