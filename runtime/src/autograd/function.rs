//! Derivatives of functions: each calls a closure on new nodes, and runs backward from its result.

use nomina_core::{Error, ErrorKind, MAX_DIMS, Names, Result, Scalar};

use super::backward::{check_seed, gradients};
use super::pass::BackwardOptions;
use super::reach::{Reach, older, pull, targets};
use crate::call;
use crate::memory::{self, scratch};
use crate::raw::Raw;
use crate::raw::graph::{
    NodeRef, OperandGrads, ResultGrads, Rule, Run, is_grad_enabled, record, switched, trace,
};
use crate::tape::has_gradient;

/// A function of tensors.
pub type Function<'f> = &'f dyn Fn(&[Raw]) -> Result<Raw>;

/// The rule of a closure's argument: the identity.
struct Argument;

impl Rule for Argument {
    fn op(&self) -> &'static str {
        "grad"
    }

    fn backward(&self, given: &ResultGrads, _: &Run<'_>) -> Result<OperandGrads> {
        Ok(given.iter().cloned().collect())
    }
}

/// Returns a tensor with a new node, whose gradient is that of the closure alone.
pub(super) fn argument(op: &'static str, x: &Raw) -> Result<Raw> {
    if !has_gradient(x.dtype()) {
        let what = format!("{} has no gradient", x.dtype());
        return Err(Error::new(ErrorKind::Gradient, op, what)
            .operand(&Names::default(), x.shape())
            .hint("only floats and complex have gradients"));
    }
    record(x.clone().detach(), [Some(x)], Argument)
}

/// A closure's arguments and result.
struct Called {
    arguments: Vec<Raw>,
    y: Raw,
    /// The epoch in which the closure was called.
    since: u64,
    /// Whether the derivatives are recorded.
    records: bool,
}

impl Called {
    fn new(op: &'static str, f: Function<'_>, inputs: &[&Raw]) -> Result<Self> {
        let arguments = inputs.iter().map(|x| argument(op, x));
        let arguments = arguments.collect::<Result<Vec<Raw>>>()?;
        let since = trace::begin_epoch();
        let y = switched(true, || f(&arguments))?;
        let mut called = Self {
            arguments,
            y,
            since,
            records: false,
        };
        called.records = is_grad_enabled() && called.reach()?.leads_out;
        Ok(called)
    }

    fn reach(&self) -> Result<Reach> {
        reach(&[&self.y], &self.arguments, self.since)
    }

    /// Computes the gradients of the arguments from that of the result.
    fn pull(&self, seed: Raw, options: BackwardOptions) -> Result<Vec<Raw>> {
        let found = pull([(&self.y, seed)], &self.reach()?, options)?;
        let pairs = found.into_iter().zip(&self.arguments);
        pairs.map(|(grad, x)| or_zeros(grad, x)).collect()
    }

    /// Returns the result for the caller.
    fn value(self) -> Raw {
        if self.records {
            self.y
        } else {
            self.y.detach()
        }
    }

    fn options(&self, seeds: &[&Raw]) -> BackwardOptions {
        let recorded = is_grad_enabled() && seeds.iter().any(|seed| seed.requires_grad());
        BackwardOptions {
            create_graph: self.records || recorded,
            ..BackwardOptions::default()
        }
    }
}

fn reach(roots: &[&Raw], arguments: &[Raw], since: u64) -> Result<Reach> {
    let targets = targets(arguments.iter().map(Raw::node))?;
    Reach::new(roots, &targets, true, since)
}

/// Replaces an absent gradient by zeros.
fn or_zeros(grad: Option<Raw>, x: &Raw) -> Result<Raw> {
    grad.map_or_else(|| Raw::zeros("grad", x.shape(), x.dtype(), x.device()), Ok)
}

fn ones(x: &Raw) -> Result<Raw> {
    call::full(x.shape(), Scalar::Float(1.0), x.dtype(), x.device())
}

/// Checks that a tensor is one real number, from which backward can start.
///
/// # Errors
/// [`ErrorKind::Gradient`] if it is not.
pub fn one_number(op: &'static str, x: &Raw) -> Result<()> {
    if x.numel() == 1 && x.dtype().is_float() {
        return Ok(());
    }
    let what = "backward starts from one real number";
    Err(Error::new(ErrorKind::Gradient, op, what)
        .operand(&Names::default(), x.shape())
        .hint("sum it, or give a gradient to start from"))
}

/// Returns the gradients of one real number with respect to tensors that it was computed from.
///
/// # Errors
/// Like [`backward`](super::backward); also if `y` was not computed from an input.
pub fn gradients_of_number(y: &Raw, inputs: &[&Raw], options: BackwardOptions) -> Result<Vec<Raw>> {
    one_number("gradients", y)?;
    let found = gradients(y, ones(y)?, inputs, options)?;
    let each = found.into_iter().zip(inputs).enumerate();
    let each = each.map(|(at, (grad, x))| {
        grad.ok_or_else(|| {
            let what = format!("the number does not depend on input {at}");
            Error::new(ErrorKind::Gradient, "gradients", what)
                .operand(&Names::default(), x.shape())
                .hint("use that very tensor: a `clone` of a leaf is the leaf, a view is another tensor")
        })
    });
    each.collect()
}

/// Returns the value of a function whose result is one real number, and its gradient by each input.
///
/// # Errors
/// The errors of `f`; also if its result is not one real number, an operator has no derivative, or memory is missing.
pub fn value_and_grad(f: Function<'_>, inputs: &[&Raw]) -> Result<(Raw, Vec<Raw>)> {
    with_own_graph(|| {
        let called = Called::new("grad", f, inputs)?;
        one_number("grad", &called.y)?;
        let found = called.pull(ones(&called.y)?, called.options(&[]))?;
        Ok((called.value(), found))
    })
}

/// Returns the value of a function, and the vector-Jacobian product of `seed` by each input.
///
/// # Errors
/// Like [`value_and_grad`]; also if `seed` does not have the sizes, dtype and device of the value.
pub fn vjp(f: Function<'_>, inputs: &[&Raw], seed: &Raw) -> Result<(Raw, Vec<Raw>)> {
    with_own_graph(|| {
        let called = Called::new("vjp", f, inputs)?;
        check_seed("vjp", &called.y, seed)?;
        let found = called.pull(seed.clone(), called.options(&[seed]))?;
        Ok((called.value(), found))
    })
}

/// Returns the value of a function, and its derivative in the direction of `tangents`.
///
/// The gradients by the inputs are linear in the gradient of the value, so the backward pass through them computes this.
///
/// # Errors
/// Like [`value_and_grad`]; also if a tangent does not have the sizes, dtype and device of its input.
pub fn jvp(f: Function<'_>, inputs: &[&Raw], tangents: &[&Raw]) -> Result<(Raw, Raw)> {
    let (y, mut found) = with_own_graph(|| {
        let called = Called::new("jvp", f, inputs)?;
        for (x, tangent) in inputs.iter().zip(tangents) {
            check_seed("jvp", x, tangent)?;
        }
        let seed = argument("jvp", &ones(&called.y)?)?;
        let again = BackwardOptions {
            create_graph: true,
            ..BackwardOptions::default()
        };
        let grads = called.pull(seed.clone(), again)?;
        let roots: Vec<&Raw> = grads.iter().collect();
        let seed = [seed];
        let given = grads.iter().zip(tangents);
        let given = given.map(|(grad, tangent)| (grad, (*tangent).clone()));
        let mut found = pull(
            given,
            &reach(&roots, &seed, called.since)?,
            called.options(tangents),
        )?;
        let tangent = or_zeros(found.pop().flatten(), &called.y)?;
        Ok((called.value(), vec![tangent]))
    })?;
    let tangent = or_zeros(found.pop(), &y)?;
    Ok((y, tangent))
}

/// Returns the derivative of each element of a function's result by each element of its input. It has the dims of the result, then
/// those of the input.
///
/// # Errors
/// Like [`value_and_grad`]; also if the result or the input is not real, or if both together have too many dims.
pub fn jacobian(f: Function<'_>, x: &Raw) -> Result<Raw> {
    let (found, _) = with_own_graph(|| {
        let called = Called::new("jacobian", f, &[x])?;
        let y = &called.y;
        let refuse = |kind, what| {
            Error::new(kind, "jacobian", what)
                .operand(&Names::default(), y.shape())
                .operand(&Names::default(), x.shape())
        };
        if !y.dtype().is_float() || !x.dtype().is_float() {
            let what = "a Jacobian needs real numbers";
            return Err(refuse(ErrorKind::Gradient, what).hint("use `vjp` for complex ones"));
        }
        let sizes: Vec<usize> = y.shape().iter().chain(x.shape()).copied().collect();
        if sizes.len() > MAX_DIMS {
            let what = format!("{} dims are more than {MAX_DIMS}", sizes.len());
            return Err(refuse(ErrorKind::Rank, &what));
        }
        let count = y.numel();
        let seeds = call::eye(count, count, y.dtype(), y.device())?;
        let reach = called.reach()?;
        let mut rows = memory::list("jacobian", [count])?;
        for at in 0..count {
            let seed = seeds.select(0, at)?.reshape(y.shape())?;
            let options = BackwardOptions {
                retain_graph: at + 1 < count,
                ..called.options(&[])
            };
            let mut found = pull([(y, seed)], &reach, options)?;
            rows.push(or_zeros(found.pop().flatten(), x)?);
        }
        if rows.is_empty() {
            let none = Raw::zeros("jacobian", &sizes, x.dtype(), x.device())?;
            return Ok((none, Vec::new()));
        }
        let rows = scratch::collect(&rows).map_err(|error| error.in_op("jacobian"))?;
        Ok((call::stack(&rows, 0)?.reshape(&sizes)?, Vec::new()))
    })?;
    Ok(found)
}

/// Returns the second derivatives of a function whose result is one real number. It has the dims of the input twice.
///
/// # Errors
/// The errors of [`value_and_grad`] and [`jacobian`].
pub fn hessian(f: Function<'_>, x: &Raw) -> Result<Raw> {
    let gradient = |x: &[Raw]| {
        let inputs: Vec<&Raw> = x.iter().collect();
        let (_, mut found) = value_and_grad(f, &inputs)?;
        or_zeros(found.pop(), inputs[0])
    };
    jacobian(&gradient, x)
}

/// Returns the gradient of each of `count` numbers, which a function computes from `count` copies of its input along a first dim.
///
/// # Errors
/// Like [`value_and_grad`]; also if the function's result is not `count` real numbers.
pub fn per_sample(f: Function<'_>, count: usize, x: &Raw) -> Result<Raw> {
    let (found, _) = with_own_graph(|| {
        let sizes: Vec<usize> = std::iter::once(count)
            .chain(x.shape().iter().copied())
            .collect();
        let copies = x.expand(&sizes)?;
        let called = Called::new("per_sample", f, &[&copies])?;
        if called.y.shape() != [count] || !called.y.dtype().is_float() {
            let what = format!("the function must return {count} real numbers, one per copy");
            return Err(Error::new(ErrorKind::Shape, "per_sample", what)
                .operand(&Names::default(), called.y.shape())
                .hint("sum over all dims but the first"));
        }
        let mut found = called.pull(ones(&called.y)?, called.options(&[]))?;
        Ok((or_zeros(found.pop(), &copies)?, Vec::new()))
    })?;
    Ok(found)
}

/// Calls `f` with a separate graph. Within a traced computation, the nodes that `f` reaches are added to the trace.
fn with_own_graph(f: impl FnOnce() -> Result<(Raw, Vec<Raw>)>) -> Result<(Raw, Vec<Raw>)> {
    if !trace::is_on() {
        return f();
    }
    let since = trace::begin_epoch();
    let (first, rest) = trace::suspended(f)?;
    let traced = |x: Raw| match older(&x, since)? {
        edges if edges.is_empty() => Ok(x),
        edges => Ok(x.computed_by(NodeRef::new(edges, Argument)?)),
    };
    let rest = rest.into_iter().map(traced).collect::<Result<_>>()?;
    Ok((traced(first)?, rest))
}
