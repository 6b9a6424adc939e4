//! Gradient descent.

use nomina_core::Result;

use super::{GradFactors, StepParam, StepRule, plan};
use crate::job::{Formula, StepNumber};

/// The options of gradient descent, like those of PyTorch's `torch.optim.SGD`.
#[derive(Clone, Copy, Debug)]
pub struct SgdOptions {
    /// The learning rate.
    pub lr: f64,
    /// The factor of the sum of earlier gradients.
    pub momentum: f64,
    /// The fraction of a gradient that is not added to the sum.
    pub dampening: f64,
    /// The fraction of a parameter that is added to its gradient.
    pub weight_decay: f64,
    /// Whether to use Nesterov momentum.
    pub nesterov: bool,
    /// A factor that is applied to gradients first.
    pub grad_scale: f64,
}

impl Default for SgdOptions {
    fn default() -> Self {
        Self {
            lr: 1e-3,
            momentum: 0.0,
            dampening: 0.0,
            weight_decay: 0.0,
            nesterov: false,
            grad_scale: 1.0,
        }
    }
}

impl SgdOptions {
    fn formula(&self, step: u64) -> Sgd {
        Sgd {
            grad: GradFactors {
                scale: self.grad_scale,
                l2: self.weight_decay,
            },
            rate: self.lr,
            keep: self.momentum,
            // The first gradient is added whole, as in PyTorch.
            take: if step == 1 { 1.0 } else { 1.0 - self.dampening },
            nesterov: self.nesterov,
        }
    }
}

/// Sutskever et al., "On the importance of initialization and momentum in deep learning".
impl StepRule for SgdOptions {
    fn words(&self, _: &[usize]) -> &'static [&'static str] {
        if self.momentum == 0.0 {
            &[]
        } else {
            &["momentum_buffer"]
        }
    }

    fn step(op: &'static str, params: &mut [StepParam<'_, Self>]) -> Result<()> {
        params.sort_unstable_by_key(|of| of.state.len());
        let (plain, heavy) = params.split_at_mut(params.partition_point(|of| of.state.is_empty()));
        let formula = |of: &StepParam<'_, Self>| of.options.formula(of.step);
        let plain = plan::<_, _, 0>(op, plain, formula)?;
        let heavy = plan::<_, _, 1>(op, heavy, formula)?;
        plain.finish()?;
        heavy.finish()
    }
}

/// The state is the running sum of gradients, or empty without momentum.
#[derive(Clone, Copy, Debug)]
struct Sgd {
    grad: GradFactors,
    rate: f64,
    /// The factor of the sum, before the gradient is added.
    keep: f64,
    /// The factor of the gradient that is added.
    take: f64,
    nesterov: bool,
}

impl<const K: usize> Formula<K> for Sgd {
    #[inline(always)]
    fn step<V: StepNumber>(self, param: V, grad: V, mut state: [V; K]) -> (V, [V; K]) {
        let mut way = self.grad.apply(&param, grad);
        if let Some(sum) = state.first_mut() {
            *sum = sum.clone().times(self.keep) + way.clone().times(self.take);
            way = if self.nesterov {
                way + sum.clone().times(self.keep)
            } else {
                sum.clone()
            };
        }
        (param - way.times(self.rate), state)
    }
}
