//! Lion.

use nomina_core::Result;

use super::{GradFactors, StepParam, StepRule, walk};
use crate::job::{Formula, StepNumber};

/// The options of Lion.
#[derive(Clone, Copy, Debug)]
pub struct LionOptions {
    /// The learning rate.
    pub lr: f64,
    /// The weights of the running mean of gradients in the update, and in the next mean.
    pub betas: (f64, f64),
    /// This fraction of a parameter times the learning rate is subtracted from it.
    pub weight_decay: f64,
    /// A factor that is applied to gradients first.
    pub grad_scale: f64,
}

impl Default for LionOptions {
    fn default() -> Self {
        Self {
            lr: 1e-4,
            betas: (0.9, 0.99),
            weight_decay: 0.0,
            grad_scale: 1.0,
        }
    }
}

/// Chen et al., "Symbolic Discovery of Optimization Algorithms", algorithm 2.
impl StepRule for LionOptions {
    fn words(&self, _: &[usize]) -> &'static [&'static str] {
        &["exp_avg"]
    }

    fn step(op: &'static str, params: &mut [StepParam<'_, Self>]) -> Result<()> {
        walk(op, params, |of| Lion {
            grad: GradFactors {
                scale: of.options.grad_scale,
                l2: 0.0,
            },
            decay: 1.0 - of.options.lr * of.options.weight_decay,
            rate: of.options.lr,
            betas: of.options.betas,
        })
    }
}

/// The state is the running mean of the gradient.
#[derive(Clone, Copy, Debug)]
struct Lion {
    grad: GradFactors,
    /// The factor of the parameter, before the update is subtracted.
    decay: f64,
    rate: f64,
    betas: (f64, f64),
}

impl Formula<1> for Lion {
    #[inline(always)]
    fn step<V: StepNumber>(self, param: V, grad: V, [mean]: [V; 1]) -> (V, [V; 1]) {
        let grad = self.grad.apply(&param, grad);
        let mixed = |keep: f64| mean.clone().times(keep) + grad.clone().times(1.0 - keep);
        let way = mixed(self.betas.0).sign().times(self.rate);
        (param.times(self.decay) - way, [mixed(self.betas.1)])
    }
}
