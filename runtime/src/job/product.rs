//! Products of matrices, attention, distances of rows.

use nomina_core::op::Op;
use nomina_core::{DType, Scalar};

use crate::SmallVec;
use crate::shape::{Shape, Strides};

/// A matrix: where it starts, and the strides of rows and columns in elements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Matrix {
    pub ptr: *mut u8,
    pub rows: isize,
    pub cols: isize,
}

// SAFETY: only an address with strides; whoever goes through it says why tasks do not meet.
unsafe impl Send for Matrix {}
// SAFETY: as above.
unsafe impl Sync for Matrix {}

impl Matrix {
    /// The transpose.
    pub(crate) fn t(self) -> Self {
        Self {
            ptr: self.ptr,
            rows: self.cols,
            cols: self.rows,
        }
    }

    /// The address of an element.
    pub(crate) fn at<T>(self, row: usize, col: usize) -> *mut T {
        let offset = row as isize * self.rows + col as isize * self.cols;
        self.ptr.cast::<T>().wrapping_offset(offset)
    }

    /// The matrix that begins so many elements further on.
    pub(crate) fn shift(self, offset: isize, dtype: DType) -> Self {
        Self {
            ptr: self.ptr.wrapping_offset(offset * dtype.size() as isize),
            ..self
        }
    }
}

/// `c = alpha a b + beta d`, for `m × k` times `k × n`; `d` is `c` where there is no `addend`, and
/// not read where there is no `beta`. Each element of `c` then goes through the operator `after`.
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
    /// Of one operand, whose dtype it gives.
    pub after: Option<Op>,
}

/// One dim over which products repeat, with the strides of the three matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Repeat {
    pub size: usize,
    pub a: isize,
    pub b: isize,
    pub c: isize,
    /// Of the addend.
    pub d: isize,
}

/// Dims over which products repeat, outermost first.
pub(crate) type Repeats = SmallVec<[Repeat; 4]>;

/// One operand of an attention: its matrices, and the strides of the batch dims.
pub(crate) struct AttentionPart {
    pub matrix: Matrix,
    pub dtype: DType,
    pub batch: Strides,
}

/// Attention as a backend sees it: for every index of the batch, `length` queries against `source`
/// keys of `features`, times values of `width`.
pub(crate) struct AttentionJob {
    /// Of queries, keys, values and the result.
    pub dtype: DType,
    pub batch: Shape,
    pub length: usize,
    pub source: usize,
    pub features: usize,
    pub width: usize,
    pub query: AttentionPart,
    pub key: AttentionPart,
    pub value: AttentionPart,
    /// Bool, true where a key counts; or a float that is added to its score.
    pub mask: Option<AttentionPart>,
    pub out: AttentionPart,
    /// What scores are multiplied by.
    pub scale: f64,
    /// Whether query `i` sees keys up to `i` only.
    pub causal: bool,
}

/// Distances as a backend sees them: `batch` times `m` rows against `n` rows, all of `depth`
/// numbers, row-major.
#[derive(Clone, Copy)]
pub(crate) struct DistanceJob {
    /// Whose name an error bears.
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
