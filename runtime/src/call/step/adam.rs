//! Adam and AdamW.

use nomina_core::Result;

use super::{GradFactors, StepParam, StepRule, walk};
use crate::job::{Formula, StepNumber};

/// The options of Adam, like those of PyTorch's `torch.optim.Adam` and `torch.optim.AdamW`.
#[derive(Clone, Copy, Debug)]
pub struct AdamOptions {
    /// The learning rate.
    pub lr: f64,
    /// The decay rates of the running means of the gradient and of its square.
    pub betas: (f64, f64),
    /// The number added to the root of the mean square.
    pub eps: f64,
    /// The fraction of a parameter that is added to its gradient; or, decoupled, that times the learning rate is
    /// subtracted from it.
    pub weight_decay: f64,
    /// Whether the decay is decoupled from the running means, as in AdamW, or goes through them, as in Adam.
    pub decoupled_weight_decay: bool,
    /// A factor that is applied to gradients first.
    pub grad_scale: f64,
}

impl Default for AdamOptions {
    fn default() -> Self {
        Self::adam()
    }
}

impl AdamOptions {
    /// AdamW with PyTorch's defaults: learning rate 0.001, decay rates 0.9 and 0.999, weight decay 0.01.
    #[must_use]
    pub const fn adamw() -> Self {
        Self {
            weight_decay: 1e-2,
            decoupled_weight_decay: true,
            ..Self::adam()
        }
    }

    /// Adam with PyTorch's defaults: learning rate 0.001, decay rates 0.9 and 0.999, no weight decay.
    #[must_use]
    pub const fn adam() -> Self {
        Self {
            lr: 1e-3,
            betas: (0.9, 0.999),
            eps: 1e-8,
            weight_decay: 0.0,
            decoupled_weight_decay: false,
            grad_scale: 1.0,
        }
    }

    fn formula(&self, step: u64) -> Adam {
        let rest = |beta: f64| 1.0 - beta.powf(step as f64);
        let [decoupled, l2] = if self.decoupled_weight_decay {
            [self.weight_decay, 0.0]
        } else {
            [0.0, self.weight_decay]
        };
        Adam {
            grad: GradFactors {
                scale: self.grad_scale,
                l2,
            },
            decay: 1.0 - self.lr * decoupled,
            keep_mean: self.betas.0,
            keep_square: self.betas.1,
            rate: self.lr / rest(self.betas.0),
            root: 1.0 / rest(self.betas.1).sqrt(),
            eps: self.eps,
        }
    }
}

/// Kingma and Ba, "Adam: A Method for Stochastic Optimization", algorithm 1; Loshchilov and Hutter, "Decoupled Weight
/// Decay Regularization", algorithm 2.
impl StepRule for AdamOptions {
    fn words(&self, _: &[usize]) -> &'static [&'static str] {
        &["exp_avg", "exp_avg_sq"]
    }

    fn step(op: &'static str, params: &mut [StepParam<'_, Self>]) -> Result<()> {
        walk(op, params, |of| of.options.formula(of.step))
    }
}

/// The state is the running means of the gradient and of its square.
#[derive(Clone, Copy, Debug)]
struct Adam {
    grad: GradFactors,
    /// The factor of the parameter, before the update is subtracted.
    decay: f64,
    keep_mean: f64,
    keep_square: f64,
    /// The factor of the mean in the update.
    rate: f64,
    /// The factor of the root of the mean square, before `eps` is added.
    root: f64,
    eps: f64,
}

impl Formula<2> for Adam {
    #[inline(always)]
    fn step<V: StepNumber>(self, param: V, grad: V, [mean, square]: [V; 2]) -> (V, [V; 2]) {
        let grad = self.grad.apply(&param, grad);
        let mean = mean.times(self.keep_mean) + grad.clone().times(1.0 - self.keep_mean);
        let squared = grad.clone() * grad;
        let square = square.times(self.keep_square) + squared.times(1.0 - self.keep_square);
        let root = square.clone().sqrt().times(self.root).plus(self.eps);
        let taken = mean.clone().times(self.rate) / root;
        (param.times(self.decay) - taken, [mean, square])
    }
}
