//! Loss scaling.

use nomina::{DynTensor, Element, Result, Tensor};
use nomina_macros::twin;

use crate::module::Module;

/// Scales the loss so that small gradients do not vanish in `f16`: PyTorch's `GradScaler`.
///
/// ```
/// use nomina::prelude::*;
/// use nomina_nn::prelude::*;
/// dims! { N, In, Out }
/// let mut model = Linear::new(In.of(2), Out.of(1));
/// let (mut optimizer, mut scale) = (Sgd::new(0.1), LossScale::default());
/// let x = Tensor::<(N, In)>::randn([8, 2]);
/// for _ in 0..3 {
///     let loss = autocast(DType::F16, || model.forward(&x).square().mean(..));
///     scale.scale(&loss).backward();
///     if scale.unscale(&model) {
///         optimizer.step(&mut model);
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LossScale {
    /// The factor of the loss; 65,536 by default.
    pub factor: f64,
    /// The factor is multiplied by this after `interval` steps in a row whose gradients are finite; 2 by default.
    pub growth: f64,
    /// The factor is multiplied by this if a gradient is not finite; 0.5 by default.
    pub backoff: f64,
    /// The number of steps between increases; 2,000 by default.
    pub interval: u32,
    /// The number of steps since the last change.
    pub steps: u32,
}

impl Default for LossScale {
    fn default() -> Self {
        Self {
            factor: 65_536.0,
            growth: 2.0,
            backoff: 0.5,
            interval: 2_000,
            steps: 0,
        }
    }
}

impl LossScale {
    /// Multiplies a loss by the factor.
    ///
    /// # Errors
    /// If an allocation fails.
    #[twin]
    pub fn try_scale<T: Element>(&self, loss: &Tensor<(), T>) -> Result<Tensor<(), T>> {
        loss.to_dyn().mul(self.factor)?.try_into()
    }

    /// Divides all gradients by the factor, and returns whether all are finite: only then take a step. Otherwise all
    /// gradients are cleared, and the factor is reduced.
    ///
    /// # Errors
    /// If an allocation fails; some gradients may be divided already.
    #[twin]
    pub fn try_unscale(&mut self, model: &impl Module) -> Result<bool> {
        let params = model.params();
        let grads: Vec<(&DynTensor, DynTensor)> = params
            .iter()
            .filter_map(|(_, param)| Some((param, param.grad()?)))
            .collect();
        let mut finite = true;
        for (_, grad) in &grads {
            finite &= grad.isfinite()?.all(..)?.item()?.to_f64() != 0.0;
        }
        if !finite {
            model.zero_grad();
            self.factor *= self.backoff;
            self.steps = 0;
            return Ok(false);
        }
        for (param, grad) in grads {
            param.set_grad(&grad.mul(1.0 / self.factor)?)?;
        }
        self.steps += 1;
        if self.steps >= self.interval {
            self.factor *= self.growth;
            self.steps = 0;
        }
        Ok(true)
    }
}
