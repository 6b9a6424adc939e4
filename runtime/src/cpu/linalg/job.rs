//! A job of matrix operators: its options, its operands and its results.

use faer::MatMut;
use nomina_core::op::class::Linalg;
use nomina_core::{DType, Element};

use crate::cpu::parallel::Shared;
use crate::memory::NoMemory;
use crate::raw::Raw;
use crate::shape::product;

/// The norm of a matrix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum MatrixNorm {
    /// The root of the sum of squared magnitudes.
    #[default]
    Fro,
    /// The sum of singular values.
    Nuc,
    /// The greatest sum of magnitudes of a column.
    One,
    /// The greatest singular value.
    Two,
    /// The greatest sum of magnitudes of a row.
    Inf,
}

/// The options of matrix operators; each operator reads those that apply to it.
#[derive(Clone, Copy, Debug, Default)]
pub struct MatrixOptions {
    /// Singular values up to this count as zero.
    pub atol: f64,
    /// Singular values up to this fraction of the greatest count as zero, too. By default this is the longer side times
    /// the precision of the dtype, or 0 if `atol` is given.
    pub rtol: Option<f64>,
    /// Whether the upper triangle is read.
    pub upper: bool,
    /// Whether the diagonal is assumed to be ones.
    pub unitriangular: bool,
    /// The norm to compute.
    pub norm: MatrixNorm,
}

/// The reason why a matrix has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    Memory(NoMemory),
    /// The pivot of this row is zero.
    Singular(usize),
    /// The leading minor of this order is not positive.
    NotPositive(usize),
    NotFinite,
    NoConvergence,
}

impl From<NoMemory> for Failure {
    fn from(missing: NoMemory) -> Self {
        Self::Memory(missing)
    }
}

/// One result of an operator: for each matrix of the batch, `rows` by `columns` elements in column-major order,
/// contiguous.
pub(crate) struct BatchResult {
    pub(crate) ptr: Shared,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) dtype: DType,
}

/// An operator over a batch. Operands have the batch dims first, then rows and columns.
pub(crate) struct MatrixJob<'a> {
    pub(crate) op: Linalg,
    pub(crate) a: &'a Raw,
    /// The right-hand side, with the same batch dims.
    pub(crate) b: Option<&'a Raw>,
    pub(crate) out: &'a [BatchResult],
    pub(crate) options: MatrixOptions,
}

/// The result of one matrix, which is written once.
pub(super) struct MatrixResult {
    ptr: *mut u8,
    rows: usize,
    columns: usize,
    dtype: DType,
}

impl MatrixResult {
    pub(super) fn new(target: &BatchResult, i: usize) -> Self {
        let bytes = product([target.rows, target.columns, target.dtype.size(), i]);
        Self {
            ptr: target.ptr.get().wrapping_add(bytes),
            rows: target.rows,
            columns: target.columns,
            dtype: target.dtype,
        }
    }

    /// Returns the matrix to write, filled with zeros.
    pub(super) fn matrix<'a, V: Element>(self) -> MatMut<'a, V> {
        assert_eq!(self.dtype, V::DTYPE);
        // SAFETY: the slot has this dtype and was the only access to these elements, which are initialised to zero.
        unsafe {
            MatMut::from_raw_parts_mut(
                self.ptr.cast(),
                self.rows,
                self.columns,
                1,
                self.rows as isize,
            )
        }
    }

    /// Writes a single element.
    pub(super) fn set<V: Element>(self, value: V) {
        self.matrix::<V>()[(0, 0)] = value;
    }
}
