//! RMSprop.

use nomina_core::Result;

use super::{GradFactors, StepParam, StepRule, plan};
use crate::job::{Formula, StepNumber};

/// The options of RMSprop, like those of PyTorch's `torch.optim.RMSprop`.
#[derive(Clone, Copy, Debug)]
pub struct RmsPropOptions {
    /// The learning rate.
    pub lr: f64,
    /// The decay rate of the running mean of the squared gradient.
    pub alpha: f64,
    /// The number added to the root of the mean square.
    pub eps: f64,
    /// The fraction of a parameter that is added to its gradient.
    pub weight_decay: f64,
    /// The factor of the sum of earlier updates.
    pub momentum: f64,
    /// Whether to divide by the standard deviation of the gradient instead of the root of its mean square.
    pub centered: bool,
    /// A factor that is applied to gradients first.
    pub grad_scale: f64,
}

impl Default for RmsPropOptions {
    fn default() -> Self {
        Self {
            lr: 1e-2,
            alpha: 0.99,
            eps: 1e-8,
            weight_decay: 0.0,
            momentum: 0.0,
            centered: false,
            grad_scale: 1.0,
        }
    }
}

/// Tieleman and Hinton, "Lecture 6.5: rmsprop"; centered as in Graves, "Generating Sequences With Recurrent Neural
/// Networks", equation 38.
impl StepRule for RmsPropOptions {
    fn words(&self, _: &[usize]) -> &'static [&'static str] {
        match (self.centered, self.momentum != 0.0) {
            (false, false) => &["square_avg"],
            (true, false) => &["square_avg", "grad_avg"],
            (false, true) => &["square_avg", "momentum_buffer"],
            (true, true) => &["square_avg", "grad_avg", "momentum_buffer"],
        }
    }

    fn step(op: &'static str, params: &mut [StepParam<'_, Self>]) -> Result<()> {
        params.sort_unstable_by_key(|of| of.state.len());
        let (first, rest) = params.split_at_mut(params.partition_point(|of| of.state.len() < 2));
        let (second, third) = rest.split_at_mut(rest.partition_point(|of| of.state.len() < 3));
        let formula = |of: &StepParam<'_, Self>| RmsProp {
            grad: GradFactors {
                scale: of.options.grad_scale,
                l2: of.options.weight_decay,
            },
            rate: of.options.lr,
            keep: of.options.alpha,
            eps: of.options.eps,
            momentum: of.options.momentum,
            centered: of.options.centered,
        };
        let first = plan::<_, _, 1>(op, first, formula)?;
        let second = plan::<_, _, 2>(op, second, formula)?;
        let third = plan::<_, _, 3>(op, third, formula)?;
        first.finish()?;
        second.finish()?;
        third.finish()
    }
}

/// The state is the running mean of the squared gradient, then that of the gradient if it is centered, then the sum of
/// updates if there is momentum.
#[derive(Clone, Copy, Debug)]
struct RmsProp {
    grad: GradFactors,
    rate: f64,
    keep: f64,
    eps: f64,
    momentum: f64,
    centered: bool,
}

impl<const K: usize> Formula<K> for RmsProp {
    #[inline(always)]
    fn step<V: StepNumber>(self, param: V, grad: V, mut state: [V; K]) -> (V, [V; K]) {
        let grad = self.grad.apply(&param, grad);
        let mean = |of: &V, new: V| of.clone().times(self.keep) + new.times(1.0 - self.keep);
        let mut rest = state.iter_mut();
        let mut power = grad.clone() * grad.clone();
        if let Some(square) = rest.next() {
            *square = mean(square, power);
            power = square.clone();
        }
        if self.centered
            && let Some(average) = rest.next()
        {
            *average = mean(average, grad.clone());
            // Rounding may make a variance near 0 negative.
            power = (power - average.clone() * average.clone()).relu();
        }
        let mut way = grad / power.sqrt().plus(self.eps);
        if let Some(sum) = rest.next() {
            *sum = sum.clone().times(self.momentum) + way;
            way = sum.clone();
        }
        (param - way.times(self.rate), state)
    }
}
