//! Chains of elementwise operators, computed in one pass.

use nomina_core::op::Op;
use nomina_core::{DType, Device, Result, Scalar};

use super::arg::{Arg, Source};
use super::divisor;
use super::pointwise::{Call, pointwise};
use super::to_dtype;
use crate::SmallVec;
use crate::backend::{Place, backend};
use crate::raw::{Raw, Strided};

/// A step of a program. Steps name earlier ones by their places; the last is the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node<'a> {
    /// The tensor of this number.
    Tensor(usize),
    /// The number of this number.
    Scalar(usize),
    /// An elementwise operator on earlier steps.
    Apply(Op, &'a [usize]),
    /// An earlier step in another dtype.
    To(DType, usize),
}

/// What is known of a step before anything is computed.
pub(crate) enum Known {
    Scalar(Scalar),
    Tensor {
        dtype: DType,
        /// The dtype that an operator computes in; that of the result elsewhere.
        compute: DType,
        layout: Strided,
    },
}

/// A program for a device: what to compute, from where, and where to.
pub(crate) struct FusedJob<'a> {
    /// Whose name an error bears.
    pub(crate) op: &'static str,
    pub(crate) program: &'a [Node<'a>],
    /// The steps that the result needs.
    pub(crate) live: &'a [bool],
    pub(crate) known: &'a [Known],
    /// The tensors, and their strides under the result's shape.
    pub(crate) inputs: &'a [(Place, &'a [isize])],
    pub(crate) shape: &'a [usize],
    /// The result: dense, in the order that its strides say.
    pub(crate) dest: Place,
    pub(crate) strides: &'a [isize],
}

type Expanded = SmallVec<[Strided; 4]>;

/// A chain of elementwise operators: the same elements, dtype and layout that
/// [`pointwise`](super::pointwise) gives step by step, without the tensors between.
///
/// # Errors
/// As the first step that fails, computed alone.
///
/// # Panics
/// When a step names a later one, or a tensor or number that is not there: a program is written
/// by a macro.
pub fn fused(program: &[Node<'_>], tensors: &[&Raw], numbers: &[Scalar]) -> Result<Raw> {
    let Some((known, device)) = infer(program, tensors, numbers)? else {
        return stepwise(program, tensors, numbers);
    };
    let Some(Known::Tensor { dtype, layout, .. }) = known.last() else {
        return stepwise(program, tensors, numbers);
    };
    if !layout.is_dense() {
        // A tensor itself, in the dtype that it has.
        return stepwise(program, tensors, numbers);
    }
    let op = program.iter().rev().find_map(|node| match node {
        Node::Apply(op, _) => Some(op.name()),
        _ => None,
    });
    let Some(op) = op else {
        return stepwise(program, tensors, numbers);
    };
    let live = live(program);
    let reads = |tensor: usize| {
        let mut steps = program.iter().zip(&live);
        steps.any(|(node, live)| *live && *node == Node::Tensor(tensor))
    };
    let expand = |(at, raw): (usize, &&Raw)| {
        if reads(at) {
            raw.layout().expand(&layout.shape)
        } else {
            // What nobody reads may have any shape.
            Strided::row_major(&[]).expand(&layout.shape)
        }
    };
    let expanded: Expanded = tensors
        .iter()
        .enumerate()
        .map(expand)
        .collect::<Result<_>>()?;
    let inputs: SmallVec<[(Place, &[isize]); 4]> = tensors
        .iter()
        .zip(&expanded)
        .map(|(raw, layout)| {
            let place = Place {
                ptr: raw.as_ptr().cast_mut(),
                dtype: raw.dtype(),
            };
            (place, &layout.strides[..])
        })
        .collect();
    let mut out = Raw::empty(op, &layout.shape, *dtype, device)?;
    out.layout.strides = layout.strides.clone();
    let dest = Place {
        ptr: out.as_mut()?.as_mut_ptr(),
        dtype: *dtype,
    };
    let job = FusedJob {
        op,
        program,
        live: &live,
        known: &known,
        inputs: &inputs,
        shape: &layout.shape,
        dest,
        strides: &layout.strides,
    };
    // SAFETY: each input's strides are its own layout's, expanded to the result's shape; the
    // result is a new dense buffer that overlaps nothing.
    unsafe { backend(op, device)?.fused(&job)? };
    Ok(out)
}

fn live(program: &[Node<'_>]) -> SmallVec<[bool; 16]> {
    let mut live = SmallVec::from_elem(false, program.len());
    if let Some(last) = live.last_mut() {
        *last = true;
    }
    for (at, node) in program.iter().enumerate().rev() {
        if live[at] {
            match *node {
                Node::Apply(_, args) => args.iter().for_each(|&arg| live[arg] = true),
                Node::To(_, of) => live[of] = true,
                Node::Tensor(_) | Node::Scalar(_) => {}
            }
        }
    }
    live
}

/// The dtypes and layouts of all steps; `None` where one has to look at the elements of another
/// before it computes, as an integer division does, where two numbers meet, and where devices differ.
fn infer(
    program: &[Node<'_>],
    tensors: &[&Raw],
    numbers: &[Scalar],
) -> Result<Option<(SmallVec<[Known; 8]>, Device)>> {
    let device = tensors
        .first()
        .map_or_else(Device::default, |raw| raw.device());
    if tensors.iter().any(|raw| raw.device() != device) {
        return Ok(None);
    }
    let mut known: SmallVec<[Known; 8]> = SmallVec::new();
    for node in program {
        let step = match *node {
            Node::Tensor(at) => {
                let raw = tensors[at];
                Known::Tensor {
                    dtype: raw.dtype(),
                    compute: raw.dtype(),
                    layout: raw.layout().clone(),
                }
            }
            Node::Scalar(at) => Known::Scalar(numbers[at]),
            Node::To(to, of) => match &known[of] {
                Known::Scalar(_) => return Ok(None),
                Known::Tensor { layout, dtype, .. } => Known::Tensor {
                    dtype: to,
                    compute: to,
                    layout: if to == *dtype {
                        layout.clone()
                    } else {
                        Strided {
                            shape: layout.shape.clone(),
                            strides: super::convert::dense(layout),
                            offset: 0,
                        }
                    },
                },
            },
            Node::Apply(op, args) => {
                let sources = args.iter().map(|&at| match &known[at] {
                    Known::Scalar(value) => Source::Scalar(*value),
                    Known::Tensor { dtype, layout, .. } => Source::Tensor {
                        // Nothing reads through it.
                        ptr: std::ptr::null(),
                        layout,
                        dtype: *dtype,
                        device,
                    },
                });
                let call = Call::described(op, sources.collect())?;
                if !call.has_tensor() || divisor::looks(op, call.compute()) {
                    return Ok(None);
                }
                let (dtype, compute) = (call.result(), call.compute());
                Known::Tensor {
                    dtype,
                    compute,
                    layout: call.layout()?,
                }
            }
        };
        known.push(step);
    }
    Ok(Some((known, device)))
}

/// The program, step by step.
pub(super) fn stepwise(program: &[Node<'_>], tensors: &[&Raw], numbers: &[Scalar]) -> Result<Raw> {
    enum Value<'a> {
        Lent(&'a Raw),
        Own(Raw),
        Number(Scalar),
    }
    fn arg<'a>(value: &'a Value<'_>) -> Arg<'a> {
        match value {
            Value::Lent(raw) => Arg::Tensor(raw),
            Value::Own(raw) => Arg::Tensor(raw),
            Value::Number(value) => Arg::Scalar(*value),
        }
    }
    let mut values: Vec<Value<'_>> = Vec::with_capacity(program.len());
    for node in program {
        let value = match *node {
            Node::Tensor(at) => Value::Lent(tensors[at]),
            Node::Scalar(at) => Value::Number(numbers[at]),
            Node::To(dtype, of) => match arg(&values[of]) {
                Arg::Tensor(raw) => Value::Own(to_dtype(raw, dtype)?),
                Arg::Scalar(value) => Value::Number(value),
            },
            Node::Apply(op, args) => {
                let args: SmallVec<[Arg<'_>; 3]> =
                    args.iter().map(|&at| arg(&values[at])).collect();
                Value::Own(pointwise(op, &args)?)
            }
        };
        values.push(value);
    }
    match values.pop() {
        Some(Value::Own(raw)) => Ok(raw),
        Some(Value::Lent(raw)) => Ok(raw.clone()),
        Some(Value::Number(value)) => super::full(
            &[],
            value,
            value.dtype(crate::config::default_dtype()),
            Device::Cpu,
        ),
        None => super::full(&[], Scalar::Bool(false), DType::Bool, Device::Cpu),
    }
}
