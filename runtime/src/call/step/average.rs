//! Running averages of tensors.

use nomina_core::Result;

use super::{StepParam, StepRule, walk};
use crate::job::{Formula, StepNumber};

/// The options of a running average, which a step moves towards a tensor that is passed as its gradient.
#[derive(Clone, Copy, Debug)]
pub struct AverageOptions {
    /// The factor of the old average; the new tensor has the rest.
    pub decay: f64,
}

impl Default for AverageOptions {
    fn default() -> Self {
        Self { decay: 0.999 }
    }
}

impl StepRule for AverageOptions {
    fn words(&self, _: &[usize]) -> &'static [&'static str] {
        &[]
    }

    fn step(op: &'static str, params: &mut [StepParam<'_, Self>]) -> Result<()> {
        walk(op, params, |of| Average {
            keep: of.options.decay,
        })
    }
}

#[derive(Clone, Copy, Debug)]
struct Average {
    keep: f64,
}

impl Formula<0> for Average {
    #[inline(always)]
    fn step<V: StepNumber>(self, param: V, new: V, []: [V; 0]) -> (V, [V; 0]) {
        (param.times(self.keep) + new.times(1.0 - self.keep), [])
    }
}
