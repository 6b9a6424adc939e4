//! The tape's gradients, by `backward`, against PyTorch's recorded ones.

use nomina::{BackwardOptions, DType, Device, DynTensor, Scalar};
use nomina_by_name::{Form, Value};
use nomina_core::op::Op;

use crate::case::{Case, Wanted};

pub type Said<T> = Result<T, String>;

/// Converts an error to a message.
pub fn said<T>(result: nomina::Result<T>) -> Said<T> {
    result.map_err(|error| format!("{error:?}"))
}

/// Returns the tensors of a value, in order.
pub fn tensors(value: &Value) -> Vec<DynTensor> {
    match value {
        Value::Tensor(x) => vec![x.clone()],
        Value::List(items) => items.iter().flat_map(tensors).collect(),
        _ => Vec::new(),
    }
}

/// A call whose tensors are leaves.
pub struct Call {
    pub op: Op,
    pub form: Form,
    pub args: Vec<Value>,
    pub kwargs: Vec<(String, Value)>,
}

impl Call {
    /// Replaces the float tensors whose index satisfies `wants` by leaves. Returns an entry per
    /// tensor: the leaf, or `None`.
    pub fn leaves(&mut self, wants: impl Fn(usize) -> bool) -> Said<Vec<Option<DynTensor>>> {
        let mut leaves = Vec::new();
        let in_place = self.form == Form::InPlace;
        let given = self.args.iter_mut();
        for value in given.chain(self.kwargs.iter_mut().map(|(_, value)| value)) {
            each(value, &mut |x| {
                let float = x.dtype().is_float() || x.dtype().is_complex();
                if !float || !wants(leaves.len()) {
                    leaves.push(None);
                    return Ok(());
                }
                let leaf = said(x.clone().with_grad())?;
                *x = match in_place && leaves.is_empty() {
                    // A leaf must not be written to.
                    true => said(leaf.mul(Scalar::Int(1)))?,
                    false => leaf.clone(),
                };
                leaves.push(Some(leaf));
                Ok(())
            })?;
        }
        Ok(leaves)
    }
}

fn each(value: &mut Value, f: &mut impl FnMut(&mut DynTensor) -> Said<()>) -> Said<()> {
    match value {
        Value::Tensor(x) => f(x),
        Value::List(items) => items.iter_mut().try_for_each(|item| each(item, f)),
        _ => Ok(()),
    }
}

/// Compares the gradients of a recorded call with PyTorch's.
pub fn recorded(case: Case) -> Said<()> {
    let Wanted::Gradients { seeds, grads } = case.wanted else {
        return Err("no gradients are recorded".into());
    };
    let (op, form) = nomina_by_name::parse(&case.op).ok_or("no such operator")?;
    let call = Call {
        op,
        form,
        args: case.args,
        kwargs: case.kwargs,
    };
    compare(&case.op, call, &seeds, &grads)
}

/// Compares the gradients of a call with the expected ones.
fn compare(spelling: &str, mut call: Call, seeds: &[Value], wanted: &[Value]) -> Said<()> {
    let leaves = call.leaves(|at| matches!(wanted.get(at), Some(Value::Tensor(_))))?;
    let made = nomina_by_name::call(spelling, call.args, call.kwargs);
    let results = tensors(&said(made)?);
    let mut seeds = seeds.iter().flat_map(tensors);
    let keep = BackwardOptions {
        retain_graph: true,
        ..BackwardOptions::default()
    };
    for result in results {
        if !(result.dtype().is_float() || result.dtype().is_complex()) {
            continue;
        }
        let Some(seed) = seeds.next() else { break };
        // A result that was completely overwritten has no gradient.
        if result.requires_grad() {
            // On the device of the result, which may differ from that of the case's tensors.
            let seed = said(seed.to_device(result.device()))?;
            said(result.backward_with(&seed, keep))?;
        }
    }
    for (leaf, want) in leaves.iter().zip(wanted) {
        if let (Some(leaf), Value::Tensor(want)) = (leaf, want) {
            let zeros = || said(leaf.zeros_like());
            let got = leaf.grad().map_or_else(zeros, Ok)?;
            near(call.op, &got, want)?;
        }
    }
    Ok(())
}

/// Compares with ten times the tolerances of recorded calls.
pub fn near(op: Op, got: &DynTensor, want: &DynTensor) -> Said<()> {
    if got.shape() != want.shape() || got.dtype() != want.dtype() {
        return Err(format!(
            "{:?} of {}, not {:?} of {}",
            got.shape(),
            got.dtype(),
            want.shape(),
            want.dtype()
        ));
    }
    let (atol, rtol) = match want.dtype() {
        DType::F64 | DType::C128 => (1e-8, 1e-6),
        DType::F16 => (1e-2, 4e-2),
        DType::BF16 => (8e-2, 2e-1),
        _ if matches!(op.name(), "digamma" | "erfinv" | "lgamma") => (1e-3, 1e-3),
        _ => (1e-4, 1e-4),
    };
    let [got, want] = [got, want].map(|x| said(x.to_device(Device::Cpu)));
    let (got, want) = (got?, want?);
    for (got, want) in got.raw().scalars().zip(want.raw().scalars()) {
        let (got, want) = (got.to_complex(), want.to_complex());
        for (got, want) in [(got.re, want.re), (got.im, want.im)] {
            let same = got == want || (got.is_nan() && want.is_nan());
            let near = (got - want).abs() <= atol + rtol * want.abs();
            if !same && !near {
                return Err(format!("{got}, not {want}"));
            }
        }
    }
    Ok(())
}
