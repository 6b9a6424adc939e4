//! L-BFGS.

use nomina::{DType, DynTensor, Error, ErrorKind, Names, Result, no_grad};
use nomina_macros::twin;

use super::loss::Loss;
use super::wolfe::{Point, dot, max_abs, strong_wolfe};
use crate::call::ok;
use crate::load::ByPath;
use crate::module::Module;
use crate::path::Path;

const OP: &str = "lbfgs";

/// The options of L-BFGS, like those of PyTorch's `torch.optim.LBFGS`, whose history has 100 steps by default.
#[derive(Clone, Copy, Debug)]
pub struct LbfgsOptions {
    /// The learning rate: the length of a step, or of the first try of a line search.
    pub lr: f64,
    /// The most iterations in a step.
    pub max_iter: u32,
    /// The most evaluations of the loss in a step; `None` for 1.25 times `max_iter`.
    pub max_eval: Option<u32>,
    /// Ends a step if no element of the gradient is greater.
    pub tolerance_grad: f64,
    /// Ends a step if the loss or all parameters change less.
    pub tolerance_change: f64,
    /// The number of earlier steps that estimate the curvature.
    pub history_size: usize,
    /// Whether to search along each direction for a point that satisfies the strong Wolfe conditions.
    pub strong_wolfe: bool,
}

impl Default for LbfgsOptions {
    fn default() -> Self {
        Self {
            lr: 1.0,
            max_iter: 20,
            max_eval: None,
            tolerance_grad: 1e-7,
            tolerance_change: 1e-9,
            history_size: 10,
            strong_wolfe: false,
        }
    }
}

/// L-BFGS: steps along directions that the changes of earlier gradients estimate. Nocedal and Wright, "Numerical
/// Optimization", algorithm 7.5. All trained parameters are one vector, and the loss is computed several times in a
/// step.
///
/// ```
/// use nomina::prelude::*;
/// use nomina_nn::optim::{Lbfgs, LbfgsOptions};
/// use nomina_nn::prelude::*;
/// dims! { N }
/// let mut w = Param::new(tensor!([3.0, -2.0]; N));
/// let mut lbfgs = Lbfgs::with(LbfgsOptions { strong_wolfe: true, ..LbfgsOptions::default() });
/// let first = lbfgs.step(&mut w, |w| (&**w - 1.0).square().sum(..));
/// assert_eq!(first, 13.0);
/// assert!(w.to_vec().iter().all(|x| (x - 1.0).abs() < 1e-4));
/// ```
#[derive(Clone, Debug)]
pub struct Lbfgs {
    /// The options of the next step.
    pub options: LbfgsOptions,
    state: Option<Memory>,
    iterations: u64,
    evaluations: u64,
}

/// The state after an iteration.
#[derive(Clone, Debug)]
struct Memory {
    direction: DynTensor,
    length: f64,
    grad: DynTensor,
    /// The changes of the gradient and of the parameters in earlier iterations.
    pairs: Vec<Pair>,
    diagonal: f64,
}

#[derive(Clone, Debug)]
struct Pair {
    grads: DynTensor,
    steps: DynTensor,
    ro: f64,
}

impl Memory {
    /// Returns the direction at a gradient, and updates the curvature.
    fn turn(&mut self, grad: &DynTensor, history: usize) -> Result<DynTensor> {
        let grads = grad.sub(&self.grad)?;
        let steps = self.direction.mul(self.length)?;
        let product = dot(&grads, &steps)?;
        if product > 1e-10 {
            if self.pairs.len() >= history.max(1) {
                self.pairs.remove(0);
            }
            self.diagonal = product / dot(&grads, &grads)?;
            let ro = 1.0 / product;
            self.pairs.push(Pair { grads, steps, ro });
        }
        let mut q = grad.neg()?;
        let mut factors = Vec::new();
        for pair in self.pairs.iter().rev() {
            let factor = dot(&pair.steps, &q)? * pair.ro;
            q = q.sub(&pair.grads.mul(factor)?)?;
            factors.push(factor);
        }
        let mut r = q.mul(self.diagonal)?;
        for (pair, factor) in self.pairs.iter().zip(factors.into_iter().rev()) {
            let back = dot(&pair.grads, &r)? * pair.ro;
            r = r.add(&pair.steps.mul(factor - back)?)?;
        }
        Ok(r)
    }
}

impl Lbfgs {
    /// Creates an optimizer with a learning rate and otherwise the default options.
    #[must_use]
    pub fn new(lr: f64) -> Self {
        Self::with(LbfgsOptions {
            lr,
            ..LbfgsOptions::default()
        })
    }

    /// Creates an optimizer with options.
    #[must_use]
    pub fn with(options: LbfgsOptions) -> Self {
        Self {
            options,
            state: None,
            iterations: 0,
            evaluations: 0,
        }
    }

    /// Minimizes a loss by up to `max_iter` iterations, and returns the loss before the step. `loss` computes the loss
    /// of a model; gradients are computed and cleared by the step. Use the same parameters in all steps.
    ///
    /// # Errors
    /// If the loss cannot be computed or differentiated, a parameter is not a float, the number of trained elements has
    /// changed, or an allocation fails. The parameters may have changed then.
    pub fn try_step<M: Module, L: Loss>(
        &mut self,
        model: &mut M,
        mut loss: impl FnMut(&M) -> L,
    ) -> Result<f64> {
        let options = self.options;
        let max_eval = options
            .max_eval
            .unwrap_or((u64::from(options.max_iter) * 5 / 4) as u32);
        let mut now = evaluate(model, &mut loss)?;
        let first = now.loss;
        let mut evaluations = 1;
        self.evaluations += 1;
        if let Some(state) = &self.state
            && state.grad.shape() != now.grad.shape()
        {
            let what = "the number of trained elements changed since the last step";
            return Err(Error::new(ErrorKind::Shape, OP, what)
                .operand(state.grad.names(), state.grad.shape())
                .operand(now.grad.names(), now.grad.shape())
                .hint("make a new optimizer for another model"));
        }
        if max_abs(&now.grad)? <= options.tolerance_grad {
            return Ok(first);
        }
        for iteration in 1..=options.max_iter {
            self.iterations += 1;
            let (direction, mut length) = match &mut self.state {
                Some(state) => (state.turn(&now.grad, options.history_size)?, options.lr),
                None => {
                    let sum = now.grad.abs()?.sum(..)?.item()?.to_f64();
                    (now.grad.neg()?, (1.0 / sum).min(1.0) * options.lr)
                }
            };
            let before = now.clone();
            let slope = dot(&now.grad, &direction)?;
            let mut ends = slope > -options.tolerance_change;
            let mut tried = 0;
            if !ends {
                let start = gather(model)?;
                if options.strong_wolfe {
                    let mut at = |length: f64| {
                        scatter(model, &start.add(&direction.mul(length)?)?)?;
                        evaluate(model, &mut loss)
                    };
                    let tolerance = options.tolerance_change;
                    let found = strong_wolfe(&mut at, &direction, length, &now, slope, tolerance)?;
                    (length, now, tried) = (found.length, found.point, found.evaluations);
                }
                scatter(model, &start.add(&direction.mul(length)?)?)?;
                if !options.strong_wolfe && iteration != options.max_iter {
                    now = evaluate(model, &mut loss)?;
                    tried = 1;
                }
                evaluations += tried;
                self.evaluations += u64::from(tried);
                ends = evaluations >= max_eval
                    || max_abs(&now.grad)? <= options.tolerance_grad
                    || max_abs(&direction.mul(length)?)? <= options.tolerance_change
                    || (now.loss - before.loss).abs() < options.tolerance_change;
            }
            let old = self.state.take();
            let (pairs, diagonal) = old.map_or((Vec::new(), 1.0), |old| (old.pairs, old.diagonal));
            let grad = before.grad;
            self.state = Some(Memory {
                direction,
                length,
                grad,
                pairs,
                diagonal,
            });
            if ends {
                break;
            }
        }
        Ok(first)
    }

    /// [`try_step`](Self::try_step) that panics on an error and does not require its result to be used.
    ///
    /// # Panics
    /// If [`try_step`](Self::try_step) fails.
    #[track_caller]
    pub fn step<M: Module, L: Loss>(&mut self, model: &mut M, loss: impl FnMut(&M) -> L) -> f64 {
        ok(self.try_step(model, loss))
    }

    /// Returns the state, which belongs in a checkpoint together with the model's state. Its names are PyTorch's.
    ///
    /// # Panics
    /// If an allocation fails.
    #[must_use]
    #[track_caller]
    pub fn state(&self) -> Vec<(String, DynTensor)> {
        ok(self.tensors())
    }

    fn tensors(&self) -> Result<Vec<(String, DynTensor)>> {
        let mut all = Vec::new();
        let mut push = |word: &str, tensor| all.push((word.to_owned(), tensor));
        let count = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        push(
            "func_evals",
            DynTensor::full(&[], count(self.evaluations), ())?,
        );
        push("n_iter", DynTensor::full(&[], count(self.iterations), ())?);
        if let Some(state) = &self.state {
            push("d", state.direction.clone());
            push("t", DynTensor::full(&[], state.length, ())?);
            push("prev_flat_grad", state.grad.clone());
            push("H_diag", DynTensor::full(&[], state.diagonal, ())?);
            let ro: Vec<f64> = state.pairs.iter().map(|pair| pair.ro).collect();
            let len = ro.len();
            push("ro", DynTensor::from_vec(ro, &[len], Names::unnamed(1))?);
            for (at, pair) in state.pairs.iter().enumerate() {
                push(&format!("old_dirs.{at}"), pair.grads.clone());
                push(&format!("old_stps.{at}"), pair.steps.clone());
            }
        }
        Ok(all)
    }

    /// Loads what [`state`](Self::state) returned.
    ///
    /// # Errors
    /// If a tensor is missing, or has several elements where a number is expected. Nothing has changed then.
    #[twin]
    pub fn try_load<K: Into<String>, X: Into<DynTensor>>(
        &mut self,
        state: impl IntoIterator<Item = (K, X)>,
    ) -> Result<()> {
        let mut given = ByPath::collect(state)?;
        let mut of = |name: &str| given.take(name);
        let evaluations = of("func_evals")?.item()?.to_f64();
        let iterations = of("n_iter")?.item()?.to_f64();
        let mut state = None;
        if iterations > 0.0 {
            let length = of("t")?.item()?.to_f64();
            let diagonal = of("H_diag")?.item()?.to_f64();
            let ro = of("ro")?.to_vec::<f64>()?;
            let pairs = ro.into_iter().enumerate().map(|(at, ro)| {
                let grads = of(&format!("old_dirs.{at}"))?;
                let steps = of(&format!("old_stps.{at}"))?;
                Ok(Pair { grads, steps, ro })
            });
            let pairs = pairs.collect::<Result<Vec<_>>>()?;
            state = Some(Memory {
                direction: of("d")?,
                length,
                grad: of("prev_flat_grad")?,
                pairs,
                diagonal,
            });
        }
        // The casts saturate.
        (self.evaluations, self.iterations) = (evaluations as u64, iterations as u64);
        self.state = state;
        Ok(())
    }
}

/// Computes the loss and its gradient.
fn evaluate<M: Module, L: Loss>(model: &M, loss: &mut impl FnMut(&M) -> L) -> Result<Point> {
    model.zero_grad();
    let value = loss(model).into_loss()?;
    value.backward()?;
    let grads = flat(model, |param| match param.grad() {
        Some(grad) => Ok(grad),
        None => param.detach().mul(0.0),
    });
    model.zero_grad();
    Ok(Point {
        loss: value.item()?.to_f64(),
        grad: grads?,
    })
}

fn gather(model: &dyn Module) -> Result<DynTensor> {
    flat(model, |param| Ok(param.detach()))
}

/// Joins a tensor for each trained parameter to one vector, in `f32` or `f64`.
fn flat(model: &dyn Module, each: impl Fn(&DynTensor) -> Result<DynTensor>) -> Result<DynTensor> {
    let params = model.params().into_iter().map(|(_, param)| param);
    let params: Vec<DynTensor> = params.filter(DynTensor::requires_grad).collect();
    let is_wide = params.iter().any(|param| param.dtype() == DType::F64);
    let dtype = if is_wide { DType::F64 } else { DType::F32 };
    let rows = params.iter().map(|param| {
        let raw = each(param)?.to_dtype(dtype)?.into_parts().0;
        DynTensor::from_parts(raw.reshape(&[raw.numel()])?, Names::unnamed(1))
    });
    let rows = rows.collect::<Result<Vec<_>>>()?;
    if rows.is_empty() {
        let what = "the model has no trained parameters";
        return Err(Error::new(ErrorKind::Argument, OP, what).hint("`model.unfreeze()`"));
    }
    DynTensor::cat(&rows.iter().collect::<Vec<_>>(), 0)
}

/// Writes a vector to the trained parameters.
fn scatter(model: &mut dyn Module, values: &DynTensor) -> Result<()> {
    let (mut start, mut done) = (0, Ok(()));
    model.each_mut(&mut Path::default(), &mut |_, slot| {
        let param = slot.to_dyn();
        if done.is_err() || !slot.is_param() || !param.requires_grad() {
            return;
        }
        let len = param.numel();
        done = no_grad(|| {
            let part = values.raw().clone().narrow(0, start, len)?;
            let part = DynTensor::from_parts(part.reshape(param.shape())?, param.names().clone())?;
            slot.as_dyn_mut()?.copy_(&part).map(drop)
        });
        start += len;
    });
    done
}
