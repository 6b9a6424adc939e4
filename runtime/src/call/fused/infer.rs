//! Shapes and dtypes of a program's steps, inferred before anything is computed.

use crate::Device;
use crate::job::{Known, Node};
use nomina_core::op::{Class, Op, Resolved};
use nomina_core::{DType, Result, Scalar};

use crate::SmallVec;
use crate::call::arg::OperandSource;
use crate::call::divisor;
use crate::call::pointwise::Call;
use crate::config::default_dtype;
use crate::memory::{list, refused};
use crate::raw::{Raw, Strided, dense};
use crate::shape::{Shape, Strides, row_major};

/// The inferred properties of a program.
pub(super) struct Inferred {
    pub(super) known: SmallVec<[Known; 16]>,
    /// The steps that the results need.
    pub(super) live: SmallVec<[bool; 16]>,
    /// The result's shape.
    pub(super) shape: Shape,
    pub(super) strides: Strides,
    pub(super) dtype: DType,
    pub(super) device: Device,
    /// The last operator.
    pub(super) op: &'static str,
}

impl Inferred {
    /// Nothing is inferred yet.
    pub(super) fn new() -> Self {
        Self {
            known: SmallVec::new(),
            live: SmallVec::new(),
            shape: Shape::new(),
            strides: Strides::new(),
            dtype: DType::Bool,
            device: Device::Cpu,
            op: "",
        }
    }

    /// Infers dtypes, shape and strides of the last step and of the steps `also`. Returns false if the program must be
    /// computed step by step: if a step reads elements before it computes, like an integer division, if an operator has
    /// only numbers, if devices differ, and if nothing is computed.
    ///
    /// # Errors
    /// The errors of the first step that fails.
    pub(super) fn infer(
        &mut self,
        program: &[Node<'_>],
        tensors: &[&Raw],
        numbers: &[Scalar],
        also: &[usize],
    ) -> Result<bool> {
        let Some(first) = tensors.first() else {
            return Ok(false);
        };
        self.device = first.device();
        if tensors.iter().any(|raw| raw.device() != self.device) {
            return Ok(false);
        }
        let ops = program.iter().rev().find_map(|node| match node {
            Node::Apply(op, _) => Some(op.name()),
            _ => None,
        });
        let Some(op) = ops else {
            return Ok(false);
        };
        self.op = op;
        // The list is as long as the program.
        let bytes = size_of::<Known>().saturating_mul(program.len());
        let room = self.known.try_reserve(program.len());
        room.map_err(|_| refused(op, bytes))?;
        self.live = live(program, also);
        if self.plain(program, tensors, numbers) {
            return Ok(true);
        }
        self.known.clear();
        self.by_rules(program, tensors, numbers)
    }

    /// Infers row-major operands of one float dtype, in which all steps compute: most programs, in a fraction of the
    /// time that the general rules take.
    fn plain(&mut self, program: &[Node<'_>], tensors: &[&Raw], numbers: &[Scalar]) -> bool {
        let (dtype, default) = (tensors[0].dtype(), default_dtype());
        let plain = |raw: &&Raw| raw.dtype() == dtype && raw.layout().is_row_major();
        let floats = matches!(dtype, DType::F32 | DType::F64);
        let all_live = self.live.iter().all(|&live| live);
        if !floats || !all_live || !tensors.iter().all(plain) {
            return false;
        }
        let mut read: SmallVec<[bool; 8]> = SmallVec::from_elem(false, tensors.len());
        for node in program {
            let known = match *node {
                Node::Tensor(at) => {
                    read[at] = true;
                    Known::Tensor {
                        dtype,
                        compute: dtype,
                    }
                }
                Node::Scalar(at) => match numbers[at] {
                    value @ (Scalar::Int(_) | Scalar::Float(_)) => Known::Scalar(value),
                    _ => return false,
                },
                Node::To(..) => return false,
                Node::Apply(op, args) => match self.apply(op, args, dtype, default) {
                    Some(Resolved { compute, result }) => Known::Tensor {
                        dtype: result,
                        compute,
                    },
                    None => return false,
                },
            };
            self.known.push(known);
        }
        if read.contains(&false) || !self.broadcast(tensors) {
            return false;
        }
        let Some(Known::Tensor { dtype, .. }) = self.known.last() else {
            return false;
        };
        self.dtype = *dtype;
        self.strides = row_major(&self.shape);
        true
    }

    /// Returns the dtypes of an operator on operands of `dtype` and numbers that do not change it.
    fn apply(&self, op: Op, args: &[usize], dtype: DType, default: DType) -> Option<Resolved> {
        let row = op.row();
        let arity = match row.class {
            Class::Unary(_) => 1,
            Class::Binary(_) => 2,
            Class::Ternary(_) => 3,
            _ => return None,
        };
        if args.len() < arity || op == Op::MaskedFill || !row.dtypes.contains(dtype) {
            return None;
        }
        let is = |at: usize, wanted: DType| matches!(self.known[at], Known::Tensor { dtype, .. } if dtype == wanted);
        let number = |at: usize| matches!(self.known[at], Known::Scalar(_));
        // Numbers of the expression take no part in promotion.
        let (args, numbers) = args.split_at(arity);
        if !numbers.iter().all(|&at| number(at)) {
            return None;
        }
        let rest = match op {
            Op::Where if is(args[0], DType::Bool) => &args[1..],
            Op::Where => return None,
            _ => args,
        };
        let all = rest.iter().all(|&at| is(at, dtype) || number(at));
        let any = rest.iter().any(|&at| is(at, dtype));
        (all && any).then(|| row.dtype.resolve(dtype, default))
    }

    /// Infers the shape to which all tensors broadcast; false if they do not, or if it has no elements.
    fn broadcast(&mut self, tensors: &[&Raw]) -> bool {
        let Some(longest) = tensors.iter().max_by_key(|raw| raw.rank()) else {
            return false;
        };
        self.shape = Shape::from_slice(longest.shape());
        for raw in tensors {
            let skipped = self.shape.len() - raw.rank();
            for (all, &own) in self.shape[skipped..].iter_mut().zip(raw.shape()) {
                if *all == 1 {
                    *all = own;
                }
                if (own != *all && own != 1) || own == 0 {
                    return false;
                }
            }
        }
        crate::shape::numel("", &self.shape).is_ok()
    }

    /// Infers any operands by the rules of the separate operators.
    fn by_rules(
        &mut self,
        program: &[Node<'_>],
        tensors: &[&Raw],
        numbers: &[Scalar],
    ) -> Result<bool> {
        // A layout for numbers, which is never read.
        let mut layouts: Vec<Strided> = list(self.op, [program.len()])?;
        for node in program {
            let (known, layout) = match *node {
                Node::Tensor(at) => {
                    let raw = tensors[at];
                    let dtype = raw.dtype();
                    let known = Known::Tensor {
                        dtype,
                        compute: dtype,
                    };
                    (known, raw.layout().clone())
                }
                Node::Scalar(at) => (Known::Scalar(numbers[at]), Strided::row_major(&[])),
                Node::To(to, of) => match self.known[of] {
                    Known::Scalar(_) => return Ok(false),
                    Known::Tensor { dtype, .. } => {
                        let mut layout = layouts[of].clone();
                        if to != dtype {
                            let strides = dense(&layout);
                            layout = Strided::with_strides(layout.shape().into(), strides);
                        }
                        let known = Known::Tensor {
                            dtype: to,
                            compute: to,
                        };
                        (known, layout)
                    }
                },
                Node::Apply(op, args) => {
                    let sources = args.iter().map(|&at| match self.known[at] {
                        Known::Scalar(value) => OperandSource::Scalar(value),
                        Known::Tensor { dtype, .. } => OperandSource::Tensor {
                            // The address is never read.
                            ptr: std::ptr::null(),
                            layout: &layouts[at],
                            dtype,
                            device: self.device,
                        },
                    });
                    let call = Call::described(op, sources.collect())?;
                    if !call.has_tensor() || divisor::checks_zeros(op, call.compute()) {
                        return Ok(false);
                    }
                    let known = Known::Tensor {
                        dtype: call.result(),
                        compute: call.compute(),
                    };
                    (known, call.layout()?)
                }
            };
            self.known.push(known);
            layouts.push(layout);
        }
        match (self.known.last(), layouts.pop()) {
            // The program is one dense tensor itself, in its own dtype.
            (Some(Known::Tensor { dtype, .. }), Some(layout)) if layout.is_dense() => {
                self.dtype = *dtype;
                self.shape = layout.shape().into();
                self.strides = layout.strides().into();
                Ok(true)
            }
            _ => Ok(false),
        }
    }
}

fn live(program: &[Node<'_>], also: &[usize]) -> SmallVec<[bool; 16]> {
    let mut live = SmallVec::from_elem(false, program.len());
    if let Some(last) = live.last_mut() {
        *last = true;
    }
    also.iter().for_each(|&at| live[at] = true);
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
