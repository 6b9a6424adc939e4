//! Products of matrices, attention, distances of rows.

use nomina_core::op::Op;
use nomina_core::{DType, Scalar};

use crate::SmallVec;
use crate::shape::{Shape, Strides};

/// A matrix: its address, and the strides of rows and columns in elements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Matrix {
    pub ptr: *mut u8,
    pub rows: isize,
    pub cols: isize,
}

// SAFETY: an address with strides; the code that uses it explains why tasks do not conflict.
unsafe impl Send for Matrix {}
// SAFETY: as above.
unsafe impl Sync for Matrix {}

impl Matrix {
    /// Returns the transpose.
    pub(crate) fn t(self) -> Self {
        Self {
            ptr: self.ptr,
            rows: self.cols,
            cols: self.rows,
        }
    }

    /// Returns the address of an element.
    pub(crate) fn at<T>(self, row: usize, col: usize) -> *mut T {
        let offset = row as isize * self.rows + col as isize * self.cols;
        self.ptr.cast::<T>().wrapping_offset(offset)
    }

    /// Returns the matrix `offset` elements further on.
    pub(crate) fn shift(self, offset: isize, dtype: DType) -> Self {
        Self {
            ptr: self.ptr.wrapping_offset(offset * dtype.size() as isize),
            ..self
        }
    }
}

/// An elementwise operator that is applied to a result, of one operand or of the operand and a number. It keeps the dtype
/// of floats.
#[derive(Clone, Copy, Debug)]
pub struct FinalOp {
    pub(crate) op: Op,
    pub(crate) number: Option<f64>,
    /// A tensor that is added before `op` is applied; then `op` is `Add` if there is no other operator.
    pub(crate) plus: Option<Residual>,
}

/// The elements of a tensor with the layout of a result, to which they are added.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Residual {
    pub first: *const u8,
    /// The result's first element.
    pub result: *const u8,
}

// SAFETY: addresses; the code that reads there explains why nobody writes meanwhile.
unsafe impl Send for Residual {}
// SAFETY: as above.
unsafe impl Sync for Residual {}

impl Residual {
    /// Returns the address of what is added to the element at an address in the result.
    pub(crate) fn beside(self, at: *const u8) -> *const u8 {
        let offset = at.addr().wrapping_sub(self.result.addr());
        self.first.wrapping_add(offset)
    }
}

impl FinalOp {
    /// Returns hard swish.
    #[must_use]
    pub fn hard_swish() -> Self {
        Self::unary(Op::Hardswish)
    }

    /// Returns leaky relu: negative numbers are multiplied by `slope`.
    #[must_use]
    pub fn leaky_relu(slope: f64) -> Self {
        Self {
            op: Op::LeakyRelu,
            number: Some(slope),
            plus: None,
        }
    }

    /// Creates an operator of one operand.
    pub(crate) fn unary(op: Op) -> Self {
        Self {
            op,
            number: None,
            plus: None,
        }
    }
}

/// `c = alpha a b + beta d`, for `m × k` times `k × n`; `d` is `c` if there is no `addend`, and not
/// read if `beta` is zero. The operator `after` (the epilogue) is then applied to each element of
/// `c`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Product {
    pub dtype: DType,
    pub m: usize,
    pub k: usize,
    pub n: usize,
    pub a: Matrix,
    pub b: Matrix,
    pub c: Matrix,
    pub alpha: Scalar,
    pub beta: Option<Scalar>,
    pub addend: Option<Matrix>,
    /// An operator whose result has the same dtype.
    pub after: Option<FinalOp>,
}

/// One operand of a [`ByteProduct`]: its row-major elements, and the number that each row of the left operand or column of
/// the right one is counted from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bytes {
    pub ptr: *const u8,
    /// Whether elements are `i8`; otherwise they are `u8`.
    pub signed: bool,
    pub zeros: *const i32,
    /// The distance between zero points in elements.
    pub zero_step: isize,
}

/// `c = (a - zeros of a) (b - zeros of b)`, for `m × k` times `k × n` bytes, with sums in `i32` that wrap. The result is
/// row-major.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ByteProduct {
    pub m: usize,
    pub k: usize,
    pub n: usize,
    pub a: Bytes,
    pub b: Bytes,
    pub c: *mut i32,
}

// SAFETY: addresses; the code that uses them explains why tasks do not conflict.
unsafe impl Sync for ByteProduct {}

/// One batch dim of a product, with the strides of the three matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Repeat {
    pub size: usize,
    pub a: isize,
    pub b: isize,
    pub c: isize,
    /// The stride of the addend.
    pub d: isize,
}

/// The batch dims of a product, outermost first.
pub(crate) type BatchRepeats = SmallVec<[Repeat; 4]>;

/// One operand of an attention: its matrices, and the strides of the batch dims.
pub(crate) struct AttentionPart {
    pub matrix: Matrix,
    pub dtype: DType,
    pub batch: Strides,
}

/// An attention's description for a backend: for every index of the batch, `length` queries with
/// `source` keys of `features`, times values of `width`.
pub(crate) struct AttentionJob {
    /// The dtype of queries, keys, values and the result.
    pub dtype: DType,
    pub batch: Shape,
    pub length: usize,
    pub source: usize,
    pub features: usize,
    pub width: usize,
    pub query: AttentionPart,
    pub key: AttentionPart,
    pub value: AttentionPart,
    /// Bool, true for keys that are attended to; or a float that is added to the score.
    pub mask: Option<AttentionPart>,
    pub out: AttentionPart,
    /// The factor of the scores.
    pub scale: f64,
    /// Whether query `i` sees only keys up to `i`.
    pub causal: bool,
}

/// A description of the gradients of an attention.
pub(crate) struct AttentionGradientJob {
    /// The attention; `out` is the gradient of its result.
    pub forward: AttentionJob,
    /// The wanted gradients of queries, keys and values, along the whole batch.
    pub grads: [Option<AttentionPart>; 3],
}

/// A distance's description for a backend: `batch` times `m` rows with `n` rows, all of `depth`
/// numbers, row-major.
#[derive(Clone, Copy)]
pub(crate) struct DistanceJob {
    /// The operator that errors name.
    pub op: &'static str,
    pub dtype: DType,
    pub p: f64,
    pub batch: usize,
    pub m: usize,
    pub n: usize,
    pub depth: usize,
    pub a: *const u8,
    pub b: *const u8,
    pub out: *mut u8,
}
