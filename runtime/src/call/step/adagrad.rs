//! Adagrad.

use nomina_core::Result;

use super::{GradFactors, StepParam, StepRule, walk};
use crate::job::{Formula, StepNumber};

/// The options of Adagrad, like those of PyTorch's `torch.optim.Adagrad`.
#[derive(Clone, Copy, Debug)]
pub struct AdagradOptions {
    /// The learning rate.
    pub lr: f64,
    /// At step `n`, counted from 1, the learning rate is divided by `1 + (n - 1) * lr_decay`.
    pub lr_decay: f64,
    /// The fraction of a parameter that is added to its gradient.
    pub weight_decay: f64,
    /// The sum of squared gradients before the first step.
    pub initial_accumulator_value: f64,
    /// The number added to the root of the sum.
    pub eps: f64,
    /// A factor that is applied to gradients first.
    pub grad_scale: f64,
}

impl Default for AdagradOptions {
    fn default() -> Self {
        Self {
            lr: 1e-2,
            lr_decay: 0.0,
            weight_decay: 0.0,
            initial_accumulator_value: 0.0,
            eps: 1e-10,
            grad_scale: 1.0,
        }
    }
}

/// Duchi, Hazan and Singer, "Adaptive Subgradient Methods for Online Learning and Stochastic Optimization".
impl StepRule for AdagradOptions {
    fn words(&self, _: &[usize]) -> &'static [&'static str] {
        &["sum"]
    }

    fn step(op: &'static str, params: &mut [StepParam<'_, Self>]) -> Result<()> {
        walk(op, params, |of| Adagrad {
            grad: GradFactors {
                scale: of.options.grad_scale,
                l2: of.options.weight_decay,
            },
            initial: if of.step == 1 {
                of.options.initial_accumulator_value
            } else {
                0.0
            },
            rate: of.options.lr / (1.0 + (of.step as f64 - 1.0) * of.options.lr_decay),
            eps: of.options.eps,
        })
    }
}

/// The state is the sum of squared gradients.
#[derive(Clone, Copy, Debug)]
struct Adagrad {
    grad: GradFactors,
    /// The number that is added to the sum.
    initial: f64,
    rate: f64,
    eps: f64,
}

impl Formula<1> for Adagrad {
    #[inline(always)]
    fn step<V: StepNumber>(self, param: V, grad: V, [sum]: [V; 1]) -> (V, [V; 1]) {
        let grad = self.grad.apply(&param, grad);
        let sum = sum.plus(self.initial) + grad.clone() * grad.clone();
        let way = grad.times(self.rate) / sum.clone().sqrt().plus(self.eps);
        (param - way, [sum])
    }
}
