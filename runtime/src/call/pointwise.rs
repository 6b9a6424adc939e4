//! Elementwise operators: the classes unary, binary and ternary.

use crate::Device;
use crate::call::to_dtype;
use crate::job::{Input, Place, Pointwise, scalar};
use nomina_core::op::{Class, Op, Resolved};
use nomina_core::{DType, Error, ErrorKind, MemoryFormat, Result};

use super::arg::{OperandSource, device, error, number, resolve, shape};
use super::assign::{assign, assign_unrecorded, recorded_out};
use super::direct::Short;
use super::small::{small_binary, small_binary_in_place, small_unary, small_with_nodes};
use super::{Arg, copy_into};
use crate::SmallVec;
use crate::call::backend::backend;
use crate::plan::{Plan, result_strides};
use crate::raw::graph::is_wanted;
use crate::raw::{Raw, RawMut, Strided, strides_in};
use crate::shape::{Shape, Strides, row_major};
use crate::tape::record_elementwise;

pub(super) type Sources<'a> = SmallVec<[OperandSource<'a>; 3]>;

/// A checked elementwise operation.
pub(super) struct Call<'a> {
    op: Op,
    device: Device,
    dtypes: Resolved,
    shape: Shape,
    sources: Sources<'a>,
}

impl<'a> Call<'a> {
    fn new(op: Op, sources: Sources<'a>) -> Result<Self> {
        let shape = shape(op.name(), &sources)?;
        let dtypes = resolve(op, &sources)?;
        super::divisor::check(op, &sources, dtypes, crate::shape::count(&shape))?;
        Self::resolved(op, sources, shape, dtypes)
    }

    /// Like [`Call::new`], but without reading elements.
    pub(super) fn described(op: Op, sources: Sources<'a>) -> Result<Self> {
        let shape = shape(op.name(), &sources)?;
        let dtypes = resolve(op, &sources)?;
        Self::resolved(op, sources, shape, dtypes)
    }

    fn resolved(op: Op, sources: Sources<'a>, shape: Shape, dtypes: Resolved) -> Result<Self> {
        Ok(Self {
            op,
            device: device(op.name(), &sources)?,
            dtypes,
            shape,
            sources,
        })
    }

    /// Whether any operand is a tensor.
    pub(super) fn has_tensor(&self) -> bool {
        let tensor = |source: &OperandSource<'_>| matches!(source, OperandSource::Tensor { .. });
        self.sources.iter().any(tensor)
    }

    /// The dtype in which the result is computed.
    pub(super) fn compute(&self) -> DType {
        self.dtypes.compute
    }

    /// The dtype of the result.
    pub(super) fn result(&self) -> DType {
        self.dtypes.result
    }

    /// Returns the layout of a new result.
    pub(super) fn layout(self) -> Result<Strided> {
        let strides = match self.agreed() {
            Some(strides) => strides,
            None => self.strides(&self.layouts()?),
        };
        Ok(Strided::with_strides(self.shape, strides))
    }

    /// Expands the layouts of the inputs to the result's shape.
    fn layouts(&self) -> Result<SmallVec<[Option<Strided>; 3]>> {
        let expand = |source: &OperandSource<'_>| match source {
            OperandSource::Tensor { layout, .. } => layout.expand(&self.shape).map(Some),
            OperandSource::Scalar(_) => Ok(None),
        };
        self.sources.iter().map(expand).collect()
    }

    /// Computes a new tensor, whose dims are in the inputs' memory order.
    fn run(&self) -> Result<Raw> {
        let layouts = self.layouts()?;
        let (strides, dtype) = (self.strides(&layouts), self.dtypes.result);
        let mut out = Raw::empty_strided(self.op.name(), &self.shape, strides, dtype, self.device)?;
        let strides = Strides::from_slice(out.strides());
        let place = (out.fresh_ptr(), self.dtypes.result);
        // SAFETY: a new buffer overlaps nothing.
        unsafe { self.launch(&layouts, place, &strides, false)? };
        Ok(out)
    }

    /// Returns the strides of a new result: dense, in the inputs' dim order, as in PyTorch.
    fn strides(&self, layouts: &[Option<Strided>]) -> Strides {
        if let Some(strides) = self.agreed() {
            return strides;
        }
        let strides: SmallVec<[&[isize]; 3]> =
            layouts.iter().flatten().map(Strided::strides).collect();
        result_strides(&self.shape, &strides)
    }

    /// Returns the strides on which all inputs of one shape agree, including dims of size 1.
    fn agreed(&self) -> Option<Strides> {
        if self.op == Op::MaskedFill {
            // The result is a row-major copy that is then written to.
            return Some(row_major(&self.shape));
        }
        // A number counts as a tensor without dims, unless it is a parameter of the function.
        let counts = matches!(self.op.row().class, Class::Binary(_)) && self.op != Op::Pow;
        let number = Strided::row_major(&[]);
        let mut inputs: SmallVec<[&Strided; 3]> = SmallVec::new();
        for source in &self.sources {
            let layout = match *source {
                OperandSource::Tensor { layout, .. } => layout,
                OperandSource::Scalar(_) if counts => &number,
                OperandSource::Scalar(_) => continue,
            };
            inputs.push(layout);
        }
        let first = *inputs.first()?;
        if inputs.iter().any(|layout| layout.shape() != first.shape()) {
            return None;
        }
        let all = |holds: fn(&Strided) -> bool| inputs.iter().all(|layout| holds(layout));
        if all(Strided::is_contiguous) {
            return Some(row_major(&self.shape));
        }
        if all(|layout| layout.is_in(MemoryFormat::ChannelsLast)) {
            return strides_in(self.op.name(), &self.shape, MemoryFormat::ChannelsLast).ok();
        }
        let same = inputs
            .iter()
            .all(|layout| layout.strides() == first.strides());
        (same && first.is_dense()).then(|| first.strides().into())
    }

    /// Computes into elements of the result's shape with these strides from an address.
    ///
    /// # Safety
    /// The elements are writable, exclusive and distinct. No operand overlaps them, except with `in_place` those that
    /// are these very elements.
    unsafe fn launch(
        &self,
        layouts: &[Option<Strided>],
        (ptr, dtype): (*mut u8, DType),
        strides: &[isize],
        in_place: bool,
    ) -> Result<()> {
        let zeros = Strides::from_elem(0, self.shape.len());
        let mut operands: SmallVec<[(&[isize], usize); 4]> = SmallVec::new();
        let mut inputs: SmallVec<[Input; 3]> = SmallVec::new();
        let place = Place { ptr, dtype };
        operands.push((strides, place.dtype.size()));
        for (source, layout) in self.sources.iter().zip(layouts) {
            match (*source, layout) {
                // A tensor without dims on the host, with operands on a device.
                (
                    OperandSource::Tensor {
                        ptr, dtype, device, ..
                    },
                    _,
                ) if device != self.device => {
                    // SAFETY: its one element, which lives as long as the operand.
                    let value = unsafe { number(ptr, dtype) };
                    operands.push((&zeros, 0));
                    inputs.push(Input::Scalar(scalar(self.op, value, self.dtypes.compute)));
                }
                (OperandSource::Tensor { ptr, dtype, .. }, Some(layout)) => {
                    operands.push((layout.strides(), dtype.size()));
                    inputs.push(Input::Tensor(Place {
                        ptr: ptr.cast_mut(),
                        dtype,
                    }));
                }
                (OperandSource::Tensor { .. }, None) => {}
                (OperandSource::Scalar(value), _) => {
                    operands.push((&zeros, 0));
                    inputs.push(Input::Scalar(scalar(self.op, value, self.dtypes.compute)));
                }
            }
        }
        let plan = Plan::new(&self.shape, &operands);
        let job = Pointwise {
            op: self.op,
            compute: self.dtypes.compute,
            plan: &plan,
            dest: place,
            inputs: &inputs,
            in_place,
        };
        // SAFETY: the plan holds each operand's own positions; the caller promises the rest.
        unsafe { backend(self.op.name(), self.device)?.pointwise(&job) }
    }

    /// Checks that the result fits a destination: first the dtype, then the sizes.
    fn check_dest(&self, dest: &RawMut<'_>) -> Result<()> {
        self.check_like(dest.dtype(), dest.shape(), dest.device())
    }

    /// Like [`Call::check_dest`], for a destination of this dtype, shape and device.
    fn check_like(&self, dtype: DType, shape: &[usize], device: Device) -> Result<()> {
        let result = self.dtypes.result;
        if !result.can_cast(dtype) {
            let what = format!("a result of {result} cannot be stored as {}", dtype);
            return Err(error(ErrorKind::DType, self.op.name(), what, &self.sources)
                .hint(format!("store it in a tensor of {result}")));
        }
        if self.shape[..] != *shape {
            let what = format!(
                "the result has sizes {:?}, the destination {:?}",
                &self.shape[..],
                shape
            );
            return Err(error(ErrorKind::Shape, self.op.name(), what, &self.sources)
                .hint("use a tensor of the result's sizes"));
        }
        if self.device != device {
            let what = format!("operands on `{}`, result on `{}`", self.device, device);
            return Err(Error::new(ErrorKind::Device, self.op.name(), what)
                .hint("move them to one device with `to_device`"));
        }
        Ok(())
    }

    /// Returns the error of an operation in place for which self would have to grow.
    #[cold]
    fn grows(&self, refused: &Error) -> Option<Error> {
        if refused.kind() != ErrorKind::Shape {
            return None;
        }
        let tensors = self.sources.iter().filter_map(|source| match source {
            OperandSource::Tensor { layout, .. } => Some(layout.shape()),
            OperandSource::Scalar(_) => None,
        });
        let shapes: SmallVec<[&[usize]; 3]> = tensors.collect();
        let own = *shapes.first()?;
        let dims = shapes.iter().enumerate().find_map(|(k, other)| {
            let new = own.len().checked_sub(other.len())?;
            let at = (0..other.len()).find(|&i| own[new + i] == 1 && other[i] != 1)?;
            Some([(0, new + at), (k, at)])
        });
        let hint = "in-place operators keep self's sizes: use the out-of-place one";
        Some(Error::sizes(self.op.name(), shapes, dims?).hint(hint))
    }

    /// Whether the result must be rounded to 16 bits before it is stored as another dtype.
    fn rounds(&self, dest: DType) -> bool {
        matches!(self.dtypes.result, DType::F16 | DType::BF16) && dest != self.dtypes.result
    }
}

fn tensors<'a>(args: &[Arg<'a>]) -> impl Iterator<Item = &'a Raw> {
    args.iter().filter_map(|arg| match *arg {
        Arg::Tensor(raw) => Some(raw),
        Arg::Scalar(_) => None,
    })
}

fn sources<'a>(args: &[Arg<'a>]) -> Sources<'a> {
    args.iter().map(|&arg| arg.into()).collect()
}

/// Applies an elementwise operator. Operands broadcast from the right and are converted to their common dtype. The
/// result is dense, with its dims in the order of the inputs' strides.
///
/// # Errors
/// If sizes do not broadcast, the operator does not take the dtypes, devices differ, or memory is missing.
pub fn pointwise(op: Op, args: &[Arg<'_>]) -> Result<Raw> {
    let found = match *args {
        [Arg::Tensor(x)] => small_unary(op, x),
        [x, y] => small_binary(op, x, y),
        _ => None,
    };
    found.map_or_else(|| pointwise_unlike(op, args), Ok)
}

/// Like [`pointwise`], for operands that [`small_unary`] or [`small_binary`] did not take.
///
/// # Errors
/// Like [`pointwise`].
pub fn pointwise_unlike(op: Op, args: &[Arg<'_>]) -> Result<Raw> {
    if is_wanted(tensors(args)) {
        recorded(op, args)
    } else {
        computed(op, args)
    }
}

/// Computes and records an operator one of whose operands has a node.
#[cold]
fn recorded(op: Op, args: &[Arg<'_>]) -> Result<Raw> {
    let result = match small_with_nodes(op, args) {
        Some(result) => result,
        None => computed(op, args)?,
    };
    record_elementwise(op, result, args)
}

/// Computes a result that is not recorded.
fn computed(op: Op, args: &[Arg<'_>]) -> Result<Raw> {
    match Short::new(op, args.len(), |i| args[i].into()) {
        Some(short) => short.run(op),
        None => general(op, args),
    }
}

#[inline(never)]
fn general(op: Op, args: &[Arg<'_>]) -> Result<Raw> {
    Call::new(op, sources(args))?.run()
}

/// Like [`pointwise`], but into the buffer of `first` if it is not shared and the result has the same strides.
///
/// # Errors
/// Like [`pointwise`].
pub fn pointwise_owned(op: Op, mut first: Raw, rest: &[Arg<'_>]) -> Result<Raw> {
    let short = matches!(*rest, [other] if small_binary_in_place(op, &mut first, other, false));
    if short || pointwise_reusing(op, &[], &mut first, rest)? {
        return Ok(first);
    }
    let mut args: SmallVec<[Arg<'_>; 3]> = SmallVec::new();
    args.push(Arg::Tensor(&first));
    args.extend_from_slice(rest);
    pointwise(op, &args)
}

/// Like [`pointwise`] of `before`, `own` and `after`, but into the buffer of `own`. Returns false, without changes, if
/// the buffer is shared or the result has other strides.
///
/// # Errors
/// Like [`pointwise`]; `own` is unchanged then.
pub fn pointwise_reusing(
    op: Op,
    before: &[Arg<'_>],
    own: &mut Raw,
    after: &[Arg<'_>],
) -> Result<bool> {
    if is_wanted(tensors(before).chain([&*own]).chain(tensors(after))) {
        return Ok(false);
    }
    // A small part of a large buffer would keep the whole buffer alive.
    let whole = own.fills_buffer(own.numel());
    let Some(ptr) = own.unique_ptr().filter(|_| whole) else {
        return Ok(false);
    };
    let source = OperandSource::Tensor {
        ptr: ptr.cast_const(),
        layout: own.layout(),
        dtype: own.dtype(),
        device: own.device(),
    };
    let (place, count) = (before.len(), before.len() + 1 + after.len());
    let at = |i: usize| match i.checked_sub(place) {
        None => before[i].into(),
        Some(0) => source,
        Some(later) => after[later - 1].into(),
    };
    if let Some(short) = Short::new(op, count, at) {
        if short.result() != own.dtype() || !short.lies_as(own.layout()) {
            return Ok(false);
        }
        // SAFETY: the elements of `own`, which nothing else shares; they are the operand `own`.
        unsafe { short.launch(ptr, true) };
        own.forget();
        return Ok(true);
    }
    let layout = own.layout().clone();
    let call = Call::new(op, (0..count).map(at).collect())?;
    let layouts = call.layouts()?;
    let fits = call.dtypes.result == own.dtype()
        && call.shape[..] == *own.shape()
        && layout.is_disjoint()
        // The result has the strides of its first operand.
        && (before.is_empty() || *call.strides(&layouts) == *layout.strides());
    if !fits {
        return Ok(false);
    }
    // SAFETY: one operand is `own` itself. The others are separate tensors, and nothing shares the buffer of `own`.
    unsafe { call.launch(&layouts, (ptr, own.dtype()), layout.strides(), true)? };
    drop(call);
    own.forget();
    Ok(true)
}

/// Applies an elementwise operator in place: `dest` is the first operand and receives the result.
///
/// # Errors
/// Like [`pointwise_into`]; `dest` is unchanged then.
pub fn pointwise_in_place(op: Op, mut dest: RawMut<'_>, rest: &[Arg<'_>]) -> Result<()> {
    if dest.records(tensors(rest)) {
        return assign_pointwise(op, dest, rest);
    }
    let ptr = dest.as_mut_ptr();
    let first = OperandSource::Tensor {
        ptr: ptr.cast_const(),
        layout: dest.layout(),
        dtype: dest.dtype(),
        device: dest.device(),
    };
    let at = |i: usize| match i.checked_sub(1) {
        None => first,
        Some(later) => rest[later].into(),
    };
    let count = 1 + rest.len();
    if let Some(short) = Short::new(op, count, at)
        && short.result() == dest.dtype()
        && short.lies_as(dest.layout())
    {
        // SAFETY: the first operand is `dest` itself. The others are separate tensors, and no tensor shares an
        // exclusively borrowed buffer.
        unsafe { short.launch(ptr, true) };
        return Ok(());
    }
    let call = Call::new(op, (0..count).map(at).collect())?;
    call.check_dest(&dest)
        .map_err(|error| call.grows(&error).unwrap_or(error))?;
    let layouts = call.layouts()?;
    // SAFETY: as above.
    unsafe { call.launch(&layouts, (ptr, dest.dtype()), dest.strides(), true) }
}

/// Computes a new tensor, which is then written to the recorded destination.
#[cold]
fn assign_pointwise(op: Op, dest: RawMut<'_>, rest: &[Arg<'_>]) -> Result<()> {
    let logical = matches!(
        op,
        Op::LogicalAnd | Op::LogicalOr | Op::LogicalXor | Op::LogicalNot
    );
    let computed = |value: &Raw| {
        let mut args: SmallVec<[Arg<'_>; 4]> = SmallVec::new();
        args.push(Arg::Tensor(value));
        args.extend_from_slice(rest);
        let call = Call::described(op, sources(&args))?;
        call.check_like(value.dtype(), value.shape(), value.device())
            .map_err(|error| call.grows(&error).unwrap_or(error))?;
        pointwise(op, &args)
    };
    if logical {
        assign_unrecorded(op.name(), dest, computed)
    } else {
        assign(op.name(), dest, computed)
    }
}

/// Applies an elementwise operator and converts the result to another dtype, in one pass if nothing is recorded.
///
/// # Errors
/// Like [`pointwise`].
pub fn pointwise_as(op: Op, args: &[Arg<'_>], dtype: DType) -> Result<Raw> {
    let call = Call::new(op, sources(args))?;
    if is_wanted(tensors(args)) || call.result() == dtype {
        return to_dtype(&pointwise(op, args)?, dtype);
    }
    let mut out = Raw::empty(op.name(), &call.shape, dtype, call.device)?;
    pointwise_into(op, out.as_mut()?, args)?;
    Ok(out)
}

/// Applies an elementwise operator and writes the result to `dest`, which has the result's shape and a dtype to which
/// it can be cast.
///
/// # Errors
/// Like [`pointwise`]; also if `dest` does not fit. It is unchanged then.
pub fn pointwise_into(op: Op, mut dest: RawMut<'_>, args: &[Arg<'_>]) -> Result<()> {
    if dest.records(tensors(args)) {
        return Err(recorded_out(op.name(), &dest));
    }
    let call = Call::new(op, sources(args))?;
    call.check_dest(&dest)?;
    if call.rounds(dest.dtype()) {
        return copy_into(dest, &call.run()?);
    }
    let layouts = call.layouts()?;
    let place = (dest.as_mut_ptr(), dest.dtype());
    // SAFETY: inputs are separate tensors, and no tensor shares an exclusively borrowed buffer.
    unsafe { call.launch(&layouts, place, dest.strides(), false) }
}
