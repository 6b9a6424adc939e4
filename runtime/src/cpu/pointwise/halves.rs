//! Arithmetic on 16-bit floats in a single loop that widens, computes in `f32` and rounds.
//!
//! Other operators stage their operands in blocks of `f32`; these few do so little that the staging
//! would dominate.

use half::{bf16, f16};
use nomina_core::op::Op;
use nomina_core::{DType, Element};

use super::kernel::{Inputs, Kernel, kernel, loop2, output2};
use crate::job::{Input, Place};

use crate::cpu::numeric::Convert;
use crate::cpu::simd::levels;

/// Returns the kernel of an operator on tensors of one 16-bit dtype, or `None` if there is no such
/// loop. Numbers are not supported, because they would have to be rounded, which the operator does
/// not do.
pub(super) fn halves(op: Op, dest: Place, inputs: &[Input]) -> Option<&'static Kernel> {
    let same = |input: &Input| matches!(input, Input::Tensor(place) if place.dtype == dest.dtype);
    if !inputs.iter().all(same) {
        return None;
    }
    macro_rules! of {
        ($half:ty) => {
            match op {
                Op::Add => of!($half, +),
                Op::Sub => of!($half, -),
                Op::Mul => of!($half, *),
                Op::Div => of!($half, /),
                _ => return None,
            }
        };
        ($half:ty, $op:tt) => {
            kernel!(levels, |x: $half, y: $half| {
                let (x, y): (f32, f32) = (x.convert(), y.convert());
                let value: $half = (x $op y).convert();
                value
            })
        };
    }
    Some(match dest.dtype {
        DType::BF16 => of!(bf16),
        DType::F16 => of!(f16),
        _ => return None,
    })
}
