//! Elementwise operators.
//!
//! A kernel computes dense runs of operands in its own dtypes; there is one per operator and
//! compute dtype, generated from the operator table. All other operands (strided, broadcast,
//! constant, of another dtype) pass through blocks in the first-level cache, so no operand is ever
//! converted or copied as a whole.

mod block;
mod contiguous;
mod generated;
mod halves;
mod in_place;
mod kernel;

#[cfg(test)]
mod tests;

use nomina_core::{DType, Scalar};

use crate::dispatch::arithmetic;
use crate::job::{Constant, Input, Place, Pointwise};

use crate::plan::{OPERANDS, Plan};

pub(crate) use contiguous::{
    ContiguousJob, Lane, SMALL, StackBlock, repeat, run_contiguous, run_over_operand, spread,
};
pub(crate) use generated::kernel;
pub(crate) use in_place::{run_in_place, run_with};
pub(crate) use kernel::{DenseLoop, Inputs, Kernel};

/// Returns the kernel of an elementwise operation; operands of other dtypes pass through blocks.
/// `None` in the same cases as [`kernel`].
pub(crate) fn choose(job: &Pointwise<'_>) -> Option<&'static Kernel> {
    let compute = arithmetic(job.compute);
    let halves = (compute == DType::F32).then(|| halves::halves(job.op, job.dest, job.inputs));
    halves.flatten().or_else(|| kernel(job.op, compute))
}

/// Computes `kernel` over a plan whose operand 0 is `dest` and whose other operands are `inputs`.
///
/// With `in_place`, the first input may be the elements of `dest` themselves.
///
/// # Safety
/// The plan's positions of `dest` are writable and distinct. Those of each input are readable and
/// valid for its dtype. No position of `dest` is a position of an input, except for the first
/// input's if `in_place`.
pub(crate) unsafe fn execute(
    kernel: &Kernel,
    plan: &Plan,
    dest: Place,
    inputs: &[Input],
    in_place: bool,
) {
    debug_assert!(inputs.len() == kernel.arity && inputs.len() < OPERANDS);
    // Numbers are converted to the dtype that the kernel reads, whatever their magnitude.
    let mut constants = [Constant::new(Scalar::Bool(false), DType::Bool); OPERANDS - 1];
    let mut places = [dest; OPERANDS - 1];
    for (i, input) in inputs.iter().enumerate() {
        places[i] = match *input {
            Input::Tensor(place) => place,
            Input::Scalar(value) => {
                let dtype = kernel.inputs[i];
                constants[i] = Constant::new(value, dtype);
                Place {
                    ptr: constants[i].as_ptr().cast_mut(),
                    dtype,
                }
            }
        };
    }
    let job = block::RowJob::new(kernel, plan, dest, &places[..inputs.len()], in_place);
    // SAFETY: guaranteed by the caller.
    unsafe { job.run() };
}
