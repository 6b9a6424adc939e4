//! Elementwise operations, copies and fills.

use nomina_core::op::{DTypeRule, Op};
use nomina_core::{DType, Element, Scalar};

use crate::dispatch::with_dtype;
use crate::plan::Plan;

/// The address of an operand's first element on its device, and the dtype.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) ptr: *mut u8,
    pub(crate) dtype: DType,
}

/// An input of an elementwise operation.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Input {
    Tensor(Place),
    Scalar(Scalar),
}

/// An elementwise operation: operand 0 of the plan is the result, the others are the inputs;
/// numbers have step zero.
pub(crate) struct Pointwise<'a> {
    pub(crate) op: Op,
    /// The dtype that the inputs are converted to.
    pub(crate) compute: DType,
    pub(crate) plan: &'a Plan,
    pub(crate) dest: Place,
    pub(crate) inputs: &'a [Input],
    /// Whether inputs may alias the result, element by element.
    pub(crate) in_place: bool,
}

/// One element of any dtype, aligned for all.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(16))]
pub(crate) struct Constant([u8; 16]);

impl Constant {
    /// Stores `value` as a `dtype`.
    pub(crate) fn new(value: Scalar, dtype: DType) -> Self {
        let mut bytes = [0; 16];
        with_dtype!(dtype, T => {
            let value = <T as Element>::from_scalar(value);
            // SAFETY: no element is longer than 16 bytes.
            unsafe { bytes.as_mut_ptr().cast::<T>().write_unaligned(value) }
        });
        Self(bytes)
    }

    /// Returns the address of the first byte.
    pub(crate) fn as_ptr(&self) -> *const u8 {
        self.0.as_ptr()
    }

    /// Returns the bytes as words, for a kernel's arguments.
    #[cfg(feature = "cuda")]
    pub(crate) fn words(self) -> [u64; 2] {
        let (low, high) = self.0.split_at(8);
        [low, high].map(|half| {
            half.iter()
                .rfold(0, |word, &byte| word << 8 | u64::from(byte))
        })
    }
}

/// Returns a number as operands of dtype `common` see it: comparisons round it to their dtype.
pub(crate) fn scalar(op: Op, value: Scalar, common: DType) -> Scalar {
    match (op.row().dtype, common) {
        (DTypeRule::Bool, DType::F16) => Scalar::from(half::f16::from_f64(value.to_f64())),
        (DTypeRule::Bool, DType::BF16) => Scalar::from(half::bf16::from_f64(value.to_f64())),
        _ => value,
    }
}

/// The clearing of a part of the matrices in a tensor's last two dims.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TriangleJob<'a> {
    /// The sizes of all dims.
    pub(crate) shape: &'a [usize],
    /// Their strides, in elements.
    pub(crate) strides: &'a [isize],
    /// The boundary diagonal, which is kept: 0 is the main one, 1 the one above it.
    pub(crate) diagonal: i64,
    /// Whether the part above the diagonal is kept.
    pub(crate) upper: bool,
}
