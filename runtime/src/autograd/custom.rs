//! Functions with custom gradients, which do not follow from the operators that they are composed of.

use std::any::Any;
use std::cell::Cell;

use nomina_core::op::Op;
use nomina_core::{DType, Error, ErrorKind, Names, Result};

use crate::call::{Arg, pointwise_owned};
use crate::raw::Raw;
use crate::raw::graph::{
    Chain, Chains, Extended, Incoming, OperandGrads, ResultGrads, Rule, Run, is_wanted, record,
};
use crate::shape::Shape;
use crate::tape::has_gradient;

/// Computes the gradients of a function's inputs from that of its result; `None` is zero.
type Back = dyn Fn(&Raw) -> Result<Vec<Option<Raw>>> + Send + Sync;

/// A gradient that is being computed; calling this waits for it.
pub type Later = Box<dyn FnOnce() -> Result<Raw>>;

/// Starts to compute the gradient of the only input.
type Start = dyn Fn(&Raw) -> Result<Later> + Send + Sync;

/// The rule of a custom gradient.
struct Custom {
    op: &'static str,
    /// The sizes and dtypes of the inputs.
    inputs: Vec<(Shape, DType)>,
    back: Box<Back>,
    /// A tensor like the only input, and the function that starts its gradient.
    start: Option<(Raw, Box<Start>)>,
}

impl Rule for Custom {
    fn op(&self) -> &'static str {
        self.op
    }

    fn backward(&self, given: &ResultGrads, _: &Run<'_>) -> Result<OperandGrads> {
        let Some(Some(grad)) = given.first() else {
            return Ok(OperandGrads::new());
        };
        let found = (self.back)(grad)?;
        if found.len() != self.inputs.len() {
            let what = format!("{} gradients of {} inputs", found.len(), self.inputs.len());
            return Err(Error::new(ErrorKind::Gradient, self.op, what));
        }
        for (grad, (shape, dtype)) in found.iter().zip(&self.inputs) {
            if let Some(grad) = grad
                && (grad.shape() != &shape[..] || grad.dtype() != *dtype)
            {
                let what = format!("a gradient of {} for an input of {}", grad.dtype(), dtype);
                return Err(Error::new(ErrorKind::Gradient, self.op, what)
                    .operand(&Names::default(), grad.shape())
                    .operand(&Names::default(), shape)
                    .hint("a gradient has its input's sizes and dtype"));
            }
        }
        Ok(found.into_iter().collect())
    }

    fn extend(&self, given: Incoming, run: &Run<'_>) -> Result<Extended> {
        let Some((like, start)) = self.start.as_ref().filter(|_| !run.records()) else {
            return Ok(Extended::Not(given));
        };
        let later = start(&given.compute()?)?;
        let chain = StartedGradient {
            op: self.op,
            like: like.clone(),
            later: Cell::new(Some(later)),
            others: Vec::new(),
        };
        let mut chains = Chains::new();
        chains.push(Some(Box::new(chain) as Box<dyn Chain>));
        Ok(Extended::Chains(chains))
    }
}

/// A gradient that was started, and the gradients to be added to it.
struct StartedGradient {
    op: &'static str,
    like: Raw,
    later: Cell<Option<Later>>,
    others: Vec<Raw>,
}

impl Chain for StartedGradient {
    fn like(&self) -> &Raw {
        &self.like
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }

    fn compute(&self) -> Result<Raw> {
        let taken = || {
            let what = "the gradient was already taken";
            Error::new(ErrorKind::Gradient, self.op, what)
        };
        let found = self.later.take().ok_or_else(taken)?()?;
        if found.shape() != self.like.shape() || found.dtype() != self.like.dtype() {
            let what = format!(
                "a gradient of {} for an input of {}",
                found.dtype(),
                self.like.dtype()
            );
            return Err(Error::new(ErrorKind::Gradient, self.op, what)
                .operand(&Names::default(), found.shape())
                .operand(&Names::default(), self.like.shape()));
        }
        let mut others = self.others.iter();
        others.try_fold(found, |sum, other| {
            pointwise_owned(Op::Add, sum, &[Arg::Tensor(other)])
        })
    }

    fn plus(&mut self, other: Raw) {
        self.others.push(other);
    }
}

/// Records `result`, which was computed from `inputs` without recording, with a custom gradient: `back` computes the gradients of the
/// inputs from the result's. Operators in `back` are recorded again.
///
/// ```
/// use nomina_runtime::DynTensor;
/// use nomina_runtime::grad::custom;
/// // The identity, whose gradient is halved.
/// let x = DynTensor::from_vec(vec![3.0_f32, 4.0], &[2], ["N"])?.with_grad()?;
/// let names = x.names().clone();
/// let y = custom("halved", &[x.raw()], x.raw().clone(), move |grad| {
///     let half = DynTensor::from_parts(grad.clone(), names.clone())?.mul(0.5)?;
///     Ok(vec![Some(half.into_parts().0)])
/// })?;
/// DynTensor::from_parts(y, x.names().clone())?.sum(..)?.backward()?;
/// assert_eq!(x.grad().unwrap().to_vec::<f32>()?, [0.5, 0.5]);
/// # Ok::<(), nomina_core::Error>(())
/// ```
///
/// # Errors
/// If memory is missing. The backward pass returns the errors of `back`, and [`ErrorKind::Gradient`] if its gradients do not have the
/// sizes and dtypes of the inputs.
pub fn custom(
    op: &'static str,
    inputs: &[&Raw],
    result: Raw,
    back: impl Fn(&Raw) -> Result<Vec<Option<Raw>>> + Send + Sync + 'static,
) -> Result<Raw> {
    recorded(op, inputs, result, Box::new(back), None)
}

/// Like [`custom`] for one input, but its gradient is computed asynchronously: `start` starts it as soon as the result's gradient is
/// known. It is awaited only when the sum of the input's gradients is needed; for a leaf, at the end. If gradients are recorded, `back`
/// computes it instead.
///
/// ```
/// use nomina_runtime::DynTensor;
/// use nomina_runtime::grad::custom_later;
/// let x = DynTensor::from_vec(vec![3.0_f32, 4.0], &[2], ["N"])?.with_grad()?;
/// let start = |grad: &nomina_runtime::Raw| {
///     let grad = grad.clone();
///     let job = std::thread::spawn(move || grad);
///     Ok(Box::new(move || Ok(job.join().expect("a gradient"))) as nomina_runtime::grad::Later)
/// };
/// let y = custom_later("sent", x.raw(), x.raw().clone(), start, |grad| Ok(grad.clone()))?;
/// DynTensor::from_parts(y, x.names().clone())?.sum(..)?.backward()?;
/// assert_eq!(x.grad().unwrap().to_vec::<f32>()?, [1.0, 1.0]);
/// # Ok::<(), nomina_core::Error>(())
/// ```
///
/// # Errors
/// The errors of [`custom`]. The backward pass also returns the errors of the function that `start` returned.
pub fn custom_later(
    op: &'static str,
    input: &Raw,
    result: Raw,
    start: impl Fn(&Raw) -> Result<Later> + Send + Sync + 'static,
    back: impl Fn(&Raw) -> Result<Raw> + Send + Sync + 'static,
) -> Result<Raw> {
    let like = input.clone().detach();
    let back = move |grad: &Raw| Ok(vec![Some(back(grad)?)]);
    let start: Box<Start> = Box::new(start);
    recorded(op, &[input], result, Box::new(back), Some((like, start)))
}

fn recorded(
    op: &'static str,
    inputs: &[&Raw],
    result: Raw,
    back: Box<Back>,
    start: Option<(Raw, Box<Start>)>,
) -> Result<Raw> {
    let result = result.detach();
    if !is_wanted(inputs.iter().copied()) || !has_gradient(result.dtype()) {
        return Ok(result);
    }
    let rule = Custom {
        op,
        inputs: inputs
            .iter()
            .map(|x| (Shape::from_slice(x.shape()), x.dtype()))
            .collect(),
        back,
        start,
    };
    record(result, inputs.iter().map(|&x| Some(x)), rule)
}
