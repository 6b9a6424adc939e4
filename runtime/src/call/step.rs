//! Optimizer steps, which update parameters and the state of each.

use std::cell::RefCell;
use std::ops::{Add, Div, Mul, Sub};

use nomina_core::op::Op;
use nomina_core::{DType, Error, ErrorKind, Names, Result, Scalar};

use super::{copy_into, fused};
use crate::SmallVec;
use crate::cpu::step::ParameterSteps;
use crate::job::{Adam, Descent, Formula, GradFactors, Momentum, Node, StepJob, StepNumber};
use crate::memory::refused;
use crate::profile::Span;
use crate::raw::graph::no_grad;
use crate::raw::{Raw, RawMut};

/// A parameter, its gradient, and the `K` state tensors of its optimizer, which are zeros at first.
#[derive(Debug)]
pub struct StepParam<'a, const K: usize> {
    /// The parameter. A leaf keeps its identity.
    pub param: RawMut<'a>,
    /// Its gradient.
    pub grad: &'a Raw,
    /// The state, with the parameter's sizes and dtype: for Adam the running means of the gradient (`exp_avg`) and of
    /// its square (`exp_avg_sq`), for descent with momentum the running sum of gradients (`momentum_buffer`).
    pub state: [&'a mut Raw; K],
    /// The number of this parameter's step, counted from 1.
    pub step: u64,
}

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

/// Performs a step of Adam or AdamW for all parameters, in one pass if they are on the host. Nothing is recorded.
/// Kingma and Ba, "Adam: A Method for Stochastic Optimization", algorithm 1; Loshchilov and Hutter, "Decoupled Weight
/// Decay Regularization", algorithm 2.
///
/// # Errors
/// If a step is 0, a parameter is not a float, its gradient or state differs in sizes, dtype or device, or memory is
/// missing. Nothing is written then.
pub fn adam(params: &mut [StepParam<'_, 2>], options: &AdamOptions) -> Result<()> {
    walk("adam", params, |step| options.formula(step))
}

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
    fn descent(&self) -> Descent {
        Descent {
            grad: GradFactors {
                scale: self.grad_scale,
                l2: self.weight_decay,
            },
            rate: self.lr,
        }
    }
}

/// Performs a step of gradient descent for all parameters, in one pass if they are on the host. Nothing is recorded.
/// For momentum, see [`sgd_momentum`].
///
/// # Errors
/// If a step is 0, a parameter is not a float, its gradient differs in sizes, dtype or device, or memory is missing.
/// Nothing is written then.
pub fn sgd(params: &mut [StepParam<'_, 0>], options: &SgdOptions) -> Result<()> {
    walk("sgd", params, |_| options.descent())
}

/// Like [`sgd`], but with momentum. The first step adds whole gradients regardless of `dampening`, as in PyTorch.
/// Sutskever et al., "On the importance of initialization and momentum in deep learning".
///
/// # Errors
/// Like [`sgd`].
pub fn sgd_momentum(params: &mut [StepParam<'_, 1>], options: &SgdOptions) -> Result<()> {
    walk("sgd", params, |step| Momentum {
        descent: options.descent(),
        keep: options.momentum,
        take: if step == 1 {
            1.0
        } else {
            1.0 - options.dampening
        },
        nesterov: options.nesterov,
    })
}

/// Updates each parameter by the formula of its step number.
fn walk<F: Formula<K>, const K: usize>(
    op: &'static str,
    params: &mut [StepParam<'_, K>],
    formula: impl Fn(u64) -> F,
) -> Result<()> {
    params.iter().try_for_each(|of| check(op, of))?;
    let room = || ParameterSteps::with_room(params.len());
    let (Ok(mut single), Ok(mut double)) = (room(), room()) else {
        return Err(refused(
            op,
            params.len().saturating_mul(size_of::<StepJob<F, K>>()),
        ));
    };
    let mut changed: SmallVec<[(usize, Raw, [Raw; K]); 4]> = SmallVec::new();
    for (at, param) in params.iter_mut().enumerate() {
        let by = formula(param.step);
        match job(param, by) {
            Some((DType::F64, job)) => double.push(job),
            Some((_, job)) => single.push(job),
            None => {
                let (param, state) = programs(param, by).map_err(|error| error.in_op(op))?;
                let bytes = size_of_val(&state).saturating_mul(changed.len());
                changed.try_reserve(1).map_err(|_| refused(op, bytes))?;
                changed.push((at, param, state));
            }
        }
    }
    // Only this can fail, on a device; so it is done first.
    for (at, param, _) in &changed {
        no_grad(|| copy_into(params[*at].param.reborrow(), param))?;
    }
    for (at, _, state) in changed {
        for (to, from) in params[at].state.iter_mut().zip(state) {
            to.replace(from);
        }
    }
    let _span = Span::new(op);
    // SAFETY: each job has one parameter, whose elements are dense and borrowed exclusively.
    unsafe {
        single.run::<f32>();
        double.run::<f64>();
    }
    Ok(())
}

fn check<const K: usize>(op: &'static str, of: &StepParam<'_, K>) -> Result<()> {
    if of.step == 0 {
        let what = "the first step is 1, not 0";
        return Err(Error::new(ErrorKind::Argument, op, what).hint("count steps from 1"));
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
    let state = of.state.iter().map(|raw| ("state", &**raw));
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
fn job<F: Formula<K>, const K: usize>(
    of: &mut StepParam<'_, K>,
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
    for (to, from) in state.iter_mut().zip(&mut of.state) {
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

/// Computes the new parameter and state by one chain of operators each.
fn programs<const K: usize>(of: &StepParam<'_, K>, by: impl Formula<K>) -> Result<(Raw, [Raw; K])> {
    let (param, grad) = (of.param.value()?.detach(), of.grad.clone().detach());
    let state: [Raw; K] = std::array::from_fn(|at| of.state[at].clone().detach());
    let mut tensors: SmallVec<[&Raw; 4]> = SmallVec::from_slice(&[&param, &grad]);
    tensors.extend(&state);
    let chain = ProgramBuilder::default();
    let [param, grad] = [0, 1].map(|at| chain.step(BuilderStep::Tensor(at)));
    let state: [TracedValue<'_>; K] =
        std::array::from_fn(|at| chain.step(BuilderStep::Tensor(2 + at)));
    let (param, state) = by.step(param, grad, state);
    let param = chain.compute(&param, &tensors)?;
    let mut computed: [Raw; K] = std::array::from_fn(|_| param.clone());
    for (to, value) in computed.iter_mut().zip(&state) {
        *to = chain.compute(value, &tensors)?;
    }
    Ok((param, computed))
}

/// A step of a program under construction.
#[derive(Clone, Copy)]
enum BuilderStep {
    Tensor(usize),
    Number(f64),
    Apply(Op, [usize; 2]),
    Sqrt([usize; 1]),
}

/// A program under construction.
#[derive(Default)]
struct ProgramBuilder(RefCell<SmallVec<[BuilderStep; 32]>>);

impl ProgramBuilder {
    fn step(&self, step: BuilderStep) -> TracedValue<'_> {
        let mut steps = self.0.borrow_mut();
        steps.push(step);
        TracedValue {
            chain: self,
            at: steps.len() - 1,
        }
    }

    fn compute(&self, value: &TracedValue<'_>, tensors: &[&Raw]) -> Result<Raw> {
        let steps = self.0.borrow();
        let mut numbers: SmallVec<[Scalar; 16]> = SmallVec::new();
        let nodes = steps[..=value.at].iter().map(|step| match step {
            BuilderStep::Tensor(at) => Node::Tensor(*at),
            BuilderStep::Number(number) => {
                numbers.push(Scalar::Float(*number));
                Node::Scalar(numbers.len() - 1)
            }
            BuilderStep::Apply(op, args) => Node::Apply(*op, args),
            BuilderStep::Sqrt(args) => Node::Apply(Op::Sqrt, args),
        });
        let program: SmallVec<[Node<'_>; 32]> = nodes.collect();
        fused(&program, tensors, &numbers)
    }
}

/// A value of a program under construction.
#[derive(Clone)]
struct TracedValue<'a> {
    chain: &'a ProgramBuilder,
    at: usize,
}

macro_rules! traced {
    ($($op:ident $method:ident),*) => {$(
        impl $op for TracedValue<'_> {
            type Output = Self;
            fn $method(self, other: Self) -> Self {
                self.chain.step(BuilderStep::Apply(Op::$op, [self.at, other.at]))
            }
        }
    )*};
}
traced!(Add add, Sub sub, Mul mul, Div div);

impl StepNumber for TracedValue<'_> {
    fn times(self, factor: f64) -> Self {
        let factor = self.chain.step(BuilderStep::Number(factor));
        self * factor
    }
    fn plus(self, number: f64) -> Self {
        let number = self.chain.step(BuilderStep::Number(number));
        self + number
    }
    fn sqrt(self) -> Self {
        self.chain.step(BuilderStep::Sqrt([self.at]))
    }
}

#[cfg(test)]
mod tests;
