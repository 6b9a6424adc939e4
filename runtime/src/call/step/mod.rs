//! Optimizer steps, which update parameters and the state of each.
//!
//! An optimizer is a file with its options, which are a [`StepRule`], and a [`Formula`] for one element.

mod adagrad;
mod adam;
mod average;
mod lion;
mod program;
mod rmsprop;
mod sgd;

use nomina_core::{DType, Error, ErrorKind, Names, Result};

pub use self::adagrad::AdagradOptions;
pub use self::adam::AdamOptions;
pub use self::average::AverageOptions;
pub use self::lion::LionOptions;
use self::program::programs;
pub use self::rmsprop::RmsPropOptions;
pub use self::sgd::SgdOptions;
use super::{copy_into, duplicate};
use crate::SmallVec;
use crate::cpu::step::ParameterSteps;
use crate::job::{Formula, StepJob, StepNumber};
use crate::memory::refused;
use crate::profile::Span;
use crate::raw::graph::no_grad;
use crate::raw::{Raw, RawMut};

/// A parameter, its gradient, the state tensors of its optimizer, which are zeros at first, and its options.
#[derive(Debug)]
pub struct StepParam<'a, O> {
    /// The parameter. A leaf keeps its identity.
    pub param: RawMut<'a>,
    /// Its gradient.
    pub grad: &'a Raw,
    /// The state, with the parameter's sizes and dtype: one tensor for each of the rule's [`words`](StepRule::words).
    pub state: &'a mut [Raw],
    /// The number of this parameter's step, counted from 1.
    pub step: u64,
    /// The options of this parameter's step.
    pub options: &'a O,
}

impl<O> StepParam<'_, O> {
    /// Copies the parameter's elements.
    ///
    /// # Errors
    /// If memory is missing.
    pub fn copy_param(&self) -> Result<Raw> {
        duplicate(&self.param.value()?.detach())
    }
}

/// The options of an optimizer, with the rule of its step.
pub trait StepRule: Sized {
    /// Returns the names of the state tensors that these options need for a parameter of a shape, as PyTorch calls
    /// them.
    fn words(&self, shape: &[usize]) -> &'static [&'static str];

    /// Steps all parameters, in one pass if they are on the host. Nothing is recorded. May reorder the list.
    ///
    /// # Errors
    /// If a step is 0, a parameter is not a float, its gradient or state differs in sizes, dtype or device, or memory
    /// is missing. Nothing is written then.
    fn step(op: &'static str, params: &mut [StepParam<'_, Self>]) -> Result<()>;
}

/// Preprocessing of the gradient.
#[derive(Clone, Copy, Debug)]
struct GradFactors {
    /// The gradient's factor.
    scale: f64,
    /// The factor of the parameter, which is added to the gradient.
    l2: f64,
}

impl GradFactors {
    #[inline(always)]
    fn apply<V: StepNumber>(self, param: &V, grad: V) -> V {
        let grad = if self.scale == 1.0 {
            grad
        } else {
            grad.times(self.scale)
        };
        // For 0 nothing is added, even if the parameter is infinite.
        if self.l2 == 0.0 {
            return grad;
        }
        grad + param.clone().times(self.l2)
    }
}

/// Updates each parameter by its formula.
fn walk<O, F: Formula<K>, const K: usize>(
    op: &'static str,
    params: &mut [StepParam<'_, O>],
    formula: impl Fn(&StepParam<'_, O>) -> F,
) -> Result<()> {
    plan(op, params, formula)?.finish()
}

/// Steps that cannot fail on the host any more.
struct PlannedSteps<'p, 'a, O, F, const K: usize> {
    op: &'static str,
    params: &'p mut [StepParam<'a, O>],
    single: ParameterSteps<F, K>,
    double: ParameterSteps<F, K>,
    /// The new values of the parameters that no job steps.
    changed: SmallVec<[(usize, Raw, [Raw; K]); 4]>,
}

/// Checks all parameters and allocates what their steps need.
fn plan<'p, 'a, O, F: Formula<K>, const K: usize>(
    op: &'static str,
    params: &'p mut [StepParam<'a, O>],
    formula: impl Fn(&StepParam<'_, O>) -> F,
) -> Result<PlannedSteps<'p, 'a, O, F, K>> {
    params.iter().try_for_each(|of| check(op, K, of))?;
    let room = || ParameterSteps::with_room(params.len());
    let (Ok(mut single), Ok(mut double)) = (room(), room()) else {
        return Err(refused(
            op,
            params.len().saturating_mul(size_of::<StepJob<F, K>>()),
        ));
    };
    let mut changed: SmallVec<[(usize, Raw, [Raw; K]); 4]> = SmallVec::new();
    for (at, param) in params.iter_mut().enumerate() {
        let by = formula(param);
        match job(param, by) {
            Some((DType::F64, job)) => double.push(job),
            Some((_, job)) => single.push(job),
            None => {
                let new = (param.param.value())
                    .and_then(|value| programs(value, param.grad, param.state, by));
                let (param, state) = new.map_err(|error| error.in_op(op))?;
                let bytes = size_of_val(&state).saturating_mul(changed.len());
                changed.try_reserve(1).map_err(|_| refused(op, bytes))?;
                changed.push((at, param, state));
            }
        }
    }
    Ok(PlannedSteps {
        op,
        params,
        single,
        double,
        changed,
    })
}

impl<O, F: Formula<K>, const K: usize> PlannedSteps<'_, '_, O, F, K> {
    fn finish(self) -> Result<()> {
        let params = self.params;
        // Only this can fail, on a device; so it is done first.
        for (at, param, _) in &self.changed {
            no_grad(|| copy_into(params[*at].param.reborrow(), param))?;
        }
        for (at, _, state) in self.changed {
            for (to, from) in params[at].state.iter_mut().zip(state) {
                to.replace(from);
            }
        }
        let _span = Span::new(self.op);
        // SAFETY: each job has one parameter, whose elements are dense and borrowed exclusively.
        unsafe {
            self.single.run::<f32>();
            self.double.run::<f64>();
        }
        Ok(())
    }
}

fn check<O>(op: &'static str, states: usize, of: &StepParam<'_, O>) -> Result<()> {
    if of.step == 0 {
        let what = "the first step is 1, not 0";
        return Err(Error::new(ErrorKind::Argument, op, what).hint("count steps from 1"));
    }
    if of.state.len() != states {
        let what = format!("{} state tensors, not {states}", of.state.len());
        let error = Error::new(ErrorKind::Argument, op, what);
        return Err(error.hint("use one for each of the rule's `words`"));
    }
    let param = &of.param;
    let refuse = |kind: ErrorKind, what: String, other: &Raw| {
        Error::new(kind, op, what)
            .operand(&Names::default(), param.shape())
            .operand(&Names::default(), other.shape())
    };
    if !param.dtype().is_float() {
        let what = format!("a parameter is {}, not a float", param.dtype());
        return Err(refuse(ErrorKind::DType, what, of.grad).hint("convert it to a float first"));
    }
    let state = of.state.iter().map(|raw| ("state", raw));
    for (word, other) in [("gradient", of.grad)].into_iter().chain(state) {
        if other.shape() != param.shape() {
            let what = format!("sizes of the {word} and its parameter differ");
            return Err(refuse(ErrorKind::Shape, what, other).hint("use those of one parameter"));
        }
        if other.dtype() != param.dtype() || other.device() != param.device() {
            let what = format!(
                "the {word} is {} on `{}`, its parameter {} on `{}`",
                other.dtype(),
                other.device(),
                param.dtype(),
                param.device()
            );
            return Err(refuse(ErrorKind::DType, what, other).hint("convert it, or move it"));
        }
    }
    Ok(())
}

/// Returns the job of a parameter on the host whose tensors are contiguous.
fn job<O, F: Formula<K>, const K: usize>(
    of: &mut StepParam<'_, O>,
    by: F,
) -> Option<(DType, StepJob<F, K>)> {
    let (dtype, count) = (of.param.dtype(), of.param.numel());
    if !matches!(dtype, DType::F32 | DType::F64) || !of.grad.layout().is_contiguous() {
        return None;
    }
    let place = |raw: &mut RawMut<'_>| {
        let dense = raw.layout().is_contiguous() && raw.device().is_cpu();
        dense.then(|| raw.as_mut_ptr())
    };
    let (param, grad) = (place(&mut of.param)?, of.grad.on_host_ptr()?);
    let mut state = [param; K];
    for (to, from) in state.iter_mut().zip(&mut *of.state) {
        *to = place(&mut from.exclusive()?)?;
    }
    let job = StepJob {
        count,
        param,
        grad,
        state,
        by,
    };
    Some((dtype, job))
}

#[cfg(test)]
mod tests;
