//! The short path of an elementwise operator, for small dense operands of one dtype, of one shape or repeating along
//! each other. It needs no conversion and no plan, and only slow functions use more than one thread. Overhead dominates
//! the cost of small tensors.

use crate::Device;
use nomina_core::op::Op;
use nomina_core::{DType, Result, Scalar};

use super::arg::OperandSource;
use super::divisor;
use crate::cpu::parallel::GRAIN;
use crate::cpu::pointwise::{ContiguousJob, Kernel, Lane, kernel, run_contiguous};
use crate::profile;
use crate::raw::{Raw, Strided};
use crate::shape::product;
use crate::storage::Storage;

/// The most operands of a loop.
const OPERANDS: usize = 4;

/// A call that qualifies for the short path.
pub(super) struct Short<'a> {
    kernel: &'static Kernel,
    /// An operand with the sizes and strides of the result.
    like: &'a Strided,
    /// The number of elements.
    count: usize,
    lanes: [Lane; OPERANDS],
    operands: usize,
}

impl<'a> Short<'a> {
    /// Returns `None` if the call does not qualify. Tensors may be combined with numbers that do not change the common
    /// dtype.
    // Avoid moves: one costs as much as the whole addition.
    #[inline(always)]
    pub(super) fn new(
        op: Op,
        operands: usize,
        at: impl Fn(usize) -> OperandSource<'a>,
    ) -> Option<Self> {
        let (mut like, mut dtype, mut device) = (None, DType::Bool, Device::Cpu);
        let mut repeats = false;
        for i in 0..operands {
            if let OperandSource::Tensor {
                layout,
                dtype: its,
                device: place,
                ..
            } = at(i)
            {
                match like {
                    None => (like, dtype, device) = (Some(layout), its, place),
                    Some(_) if its != dtype || place != device => return None,
                    Some(first) if same(layout, first) => {}
                    Some(first) => {
                        repeats = true;
                        like = Some(larger(layout, first));
                    }
                }
            }
        }
        let like = like?;
        let count = like.dense_count().filter(|&count| count <= GRAIN)?;
        if !device.is_cpu() {
            // Devices have no such loops.
            return None;
        }
        let kernel = find(op, dtype, operands)?;
        if !op.row().dtypes.contains(dtype) {
            return None;
        }
        let mut lanes = [Lane::Number(Scalar::Bool(false)); OPERANDS];
        for (i, lane) in lanes.iter_mut().enumerate().take(operands) {
            *lane = match at(i) {
                OperandSource::Tensor { ptr, layout, .. } if repeats => {
                    repeated(ptr, layout, like, count)?
                }
                OperandSource::Tensor { ptr, .. } => Lane::Whole(ptr),
                OperandSource::Scalar(value) if keeps(value, dtype) => Lane::Number(value),
                OperandSource::Scalar(_) => return None,
            };
        }
        (!repeats || agree(&lanes)).then_some(Self {
            kernel,
            like,
            count,
            lanes,
            operands,
        })
    }

    /// The dtype of the result.
    pub(super) fn result(&self) -> DType {
        self.kernel.output
    }

    /// Whether the result has the sizes and strides of `layout`.
    pub(super) fn lies_as(&self, layout: &Strided) -> bool {
        same(self.like, layout)
    }

    /// Computes a new tensor.
    #[inline(always)]
    pub(super) fn run(&self, op: Op) -> Result<Raw> {
        let dtype = self.kernel.output;
        let bytes = product([self.count, dtype.size()]);
        let mut storage = Storage::cpu(op.name(), bytes)?;
        let Some(dest) = storage.unique_ptr() else {
            unreachable!("a new buffer is not shared");
        };
        // SAFETY: a new buffer, long enough, which overlaps nothing.
        unsafe { self.launch(dest, false) };
        // SAFETY: the result has the strides of that operand, and all of it was written.
        Ok(unsafe { Raw::like(storage, dtype, self.like) })
    }

    /// Computes into `dest`.
    ///
    /// # Safety
    /// `dest` has room for the elements of the result, and no operand overlaps it, except with `in_place` those that
    /// are these very elements.
    #[inline(always)]
    pub(super) unsafe fn launch(&self, dest: *mut u8, in_place: bool) {
        let job = ContiguousJob {
            count: self.count,
            dest,
            lanes: &self.lanes[..self.operands],
            in_place,
        };
        // SAFETY: operands were found to be dense; the rest is the caller's promise.
        unsafe { run_contiguous(self.kernel, &job) };
    }
}

/// Whether both have the same sizes and strides, regardless of their offsets.
#[inline(always)]
pub(crate) fn same(a: &Strided, b: &Strided) -> bool {
    let sizes = || a.shape().iter().zip(b.shape()).all(|(a, b)| a == b);
    let strides = || a.strides().iter().zip(b.strides()).all(|(a, b)| a == b);
    a.shape().len() == b.shape().len() && sizes() && strides()
}

/// Returns the layout that is as large as the result, if either is.
#[inline(never)]
pub(crate) fn larger<'a>(a: &'a Strided, b: &'a Strided) -> &'a Strided {
    let (rank, other) = (a.shape().len(), b.shape().len());
    let exceeds = rank > other || rank == other && a.numel() > b.numel();
    if exceeds { a } else { b }
}

/// Whether an integer operator reads elements before it computes.
fn reads_elements(op: Op, dtype: DType) -> bool {
    op == Op::Pow || divisor::checks_zeros(op, dtype)
}

/// Whether a number leaves the dtype of a tensor unchanged.
pub(crate) fn keeps(value: Scalar, dtype: DType) -> bool {
    match value {
        Scalar::Int(_) => dtype != DType::Bool,
        Scalar::Float(_) => !dtype.is_integral(),
        Scalar::Bool(_) | Scalar::Complex(_) => false,
    }
}

/// Returns how a smaller row-major operand repeats along a larger one: its last dims are those of the other, or its
/// first dims are and the others have size 1.
#[inline(never)]
pub(crate) fn repeated(
    ptr: *const u8,
    own: &Strided,
    like: &Strided,
    count: usize,
) -> Option<Lane> {
    if same(own, like) {
        return Some(Lane::Whole(ptr));
    }
    let (shape, other) = (own.shape(), like.shape());
    let elements = own.dense_count()?;
    if shape.len() > other.len() {
        return None;
    }
    let leading = shape.iter().take_while(|&&size| size == 1).count();
    let row = &shape[leading..];
    // Dim by dim: `ends_with` would call a function for each pair of lists.
    let ends = row.iter().rev().zip(other.iter().rev());
    if ends.into_iter().all(|(a, b)| a == b) {
        return Some(match elements {
            1 => Lane::Columns(ptr, count),
            n if n == count => Lane::Whole(ptr),
            n => Lane::Rows(ptr, n),
        });
    }
    let trailing = shape.iter().rev().take_while(|&&size| size == 1).count();
    let column = &shape[..shape.len() - trailing];
    let whole = shape.len() == other.len() && column.iter().zip(other).all(|(a, b)| a == b);
    whole.then(|| Lane::Columns(ptr, count / elements))
}

/// Whether all repeated operands have the same period.
fn agree(lanes: &[Lane; OPERANDS]) -> bool {
    let mut periods = lanes.iter().filter_map(Lane::period);
    let first = periods.next();
    periods.all(|period| Some(period) == first)
}

#[cfg(test)]
#[path = "direct_tests.rs"]
mod tests;

/// Returns the loop of an operator that reads all operands in this dtype; `None` if there is no such loop, or if the operator
/// reads elements before it computes.
#[inline(always)]
pub(crate) fn find(op: Op, dtype: DType, operands: usize) -> Option<&'static Kernel> {
    let kernel = short(op, dtype)?;
    let fits = kernel.reads_only(dtype)
        && kernel.arity == operands
        && !(dtype.is_integral() && reads_elements(op, dtype));
    fits.then_some(kernel)
}

/// Returns the loop of the short path; `None` while operators are profiled.
#[inline(always)]
pub(crate) fn short(op: Op, dtype: DType) -> Option<&'static Kernel> {
    if profile::is_on() {
        return None;
    }
    kernel(op, dtype)
}
