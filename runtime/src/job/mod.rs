//! Jobs: descriptions of the work that a backend does.
//!
//! The entries in [`crate::call`] check dtypes and sizes and decide the result's layout; then they pass a plain
//! description, a job, to the device's [`Backend`]. A second device is a second implementation, and a class of
//! operators that it lacks does not compile.

mod data_dependent;
mod elementwise;
#[cfg(feature = "fft")]
mod fft;
mod fused;
mod index;
mod lines;
mod normalize;
mod packed;
mod pool;
mod product;
mod random;
mod recurrent;
mod reduce;
mod resample;
mod step;
mod window;

use nomina_core::{Result, Scalar};

use crate::plan::Plan;
use crate::random::{Draw, Stream};
use crate::storage::Storage;
pub use data_dependent::Interpolation;
pub(crate) use data_dependent::{
    BinJob, Binned, DataDependent, GroupJob, MaskJob, QuantileJob, Room, SelectJob,
};
pub(crate) use elementwise::{Constant, Input, Place, Pointwise, TriangleJob, scalar};
#[cfg(feature = "fft")]
pub use fft::FftNorm;
pub use fused::Node;
pub(crate) use fused::{FusedJob, Known};
pub use index::Update;
pub(crate) use index::{Counted, IndexJob, Unchecked};
pub(crate) use lines::{ContiguousRows, LineJob, Search, Task};
pub(crate) use normalize::{EntropyJob, NormJob, Outside, RowGradient, RowGradientJob, SoftmaxJob};
pub(crate) use packed::{KeptWeight, PackOrder, Packed};
pub(crate) use pool::{Cover, PoolJob, PoolKind, Slide, UnpoolJob, WindowSpan};
pub use product::FinalOp;
pub(crate) use product::{
    AttentionGradientJob, AttentionJob, AttentionPart, BatchRepeats, ByteProduct, Bytes,
    DistanceJob, Matrix, Product, Repeat, Residual,
};
pub(crate) use random::{Drawn, Multinomial};
pub use recurrent::RecurrentKind;
pub(crate) use recurrent::{DirectionJob, RecurrentJob};
pub(crate) use reduce::{DimParts, PairJob, Pairing, PartsJob, ReduceJob, Reducing, ScanJob};
pub use resample::Resize;
pub(crate) use resample::{ResampleJob, ResampledDim, SpreadJob};
pub(crate) use step::{Formula, StepJob, StepNumber};
pub(crate) use window::{
    ColumnsJob, ConvJob, Sliding, TransposedJob, WeightGradientJob, WindowDims, is_direct,
};

/// The kernels of one device, one method per class.
///
/// The caller of an unsafe method guarantees that a plan's positions are inside the operands' buffers on this device,
/// that inputs are valid for their dtypes, that no two positions of a destination are the same, and that it overlaps no
/// input unless stated otherwise.
pub(crate) trait Backend: DataDependent {
    /// Allocates a buffer with indeterminate content, or zeroed.
    fn allocate(&self, op: &'static str, bytes: usize, zeroed: bool) -> Result<Storage>;

    /// Copies from host memory; the source may be reused on return.
    ///
    /// # Safety
    /// `bytes` bytes are readable at `from`, and belong to a tensor on this device at `to`.
    unsafe fn upload(
        &self,
        op: &'static str,
        to: *mut u8,
        from: *const u8,
        bytes: usize,
    ) -> Result<()>;

    /// Copies to host memory, after the work that was started before.
    ///
    /// # Safety
    /// `bytes` bytes belong to a tensor on this device at `from`, and are writable at `to`.
    unsafe fn download(
        &self,
        op: &'static str,
        to: *mut u8,
        from: *const u8,
        bytes: usize,
    ) -> Result<()>;

    /// Computes an elementwise operator.
    ///
    /// # Safety
    /// See [`Backend`].
    unsafe fn pointwise(&self, job: &Pointwise<'_>) -> Result<()>;

    /// Computes a chain of elementwise operators.
    ///
    /// # Safety
    /// See [`Backend`].
    unsafe fn fused(&self, job: &FusedJob<'_>) -> Result<()>;

    /// Computes a program, reduces its result without storing it, and returns true; or does nothing and returns false,
    /// if it is faster to store the result first.
    ///
    /// # Safety
    /// See [`Backend`].
    unsafe fn fused_reduce(&self, job: &FusedJob<'_>, reduce: &ReduceJob<'_>) -> Result<bool>;

    /// Copies operand 1 of a plan to operand 0, and converts the dtype.
    ///
    /// # Safety
    /// See [`Backend`].
    unsafe fn copy(&self, plan: &Plan, dest: Place, source: Place) -> Result<()>;

    /// Writes a number to operand 0 of a plan, whose operand 1 has step zero.
    ///
    /// # Safety
    /// See [`Backend`].
    unsafe fn fill(&self, plan: &Plan, dest: Place, value: Scalar) -> Result<()>;

    /// Writes zeros on one side of a diagonal of matrices.
    ///
    /// # Safety
    /// See [`Backend`].
    unsafe fn triangle(&self, job: &TriangleJob<'_>, dest: Place) -> Result<()>;

    /// Writes `start`, `start + step`, and so on, to `n` adjacent elements.
    ///
    /// # Safety
    /// See [`Backend`].
    unsafe fn arange(&self, n: usize, dest: Place, start: Scalar, step: Scalar) -> Result<()>;

    /// Writes random numbers to `n` adjacent elements.
    ///
    /// # Safety
    /// See [`Backend`].
    unsafe fn random(&self, n: usize, dest: Place, draw: &Draw) -> Result<()>;

    /// Writes random numbers to `n` adjacent elements, each from a distribution whose parameter is the element of `of`
    /// with the same index, adjacent too. Invalid parameters are an error.
    ///
    /// # Safety
    /// See [`Backend`].
    unsafe fn random_of(
        &self,
        n: usize,
        dest: Place,
        of: Place,
        what: Drawn,
        words: &Stream,
    ) -> Result<()>;

    /// Writes the numbers below `n` in random order to `n` adjacent elements.
    ///
    /// # Safety
    /// See [`Backend`].
    unsafe fn permutation(&self, n: usize, dest: Place, words: &Stream) -> Result<()>;

    /// Draws positions by weight from each row of a matrix.
    ///
    /// # Safety
    /// See [`Backend`].
    unsafe fn multinomial(&self, job: &Multinomial) -> Result<()>;

    /// Reduces dims.
    ///
    /// # Safety
    /// See [`Backend`].
    unsafe fn reduce(&self, job: &ReduceJob<'_>) -> Result<()>;

    /// Reduces parts of a dim and returns true; or does nothing and returns false, if there is no kernel for the
    /// reduction.
    ///
    /// # Safety
    /// See [`Backend`].
    unsafe fn reduce_parts(&self, job: &PartsJob<'_>) -> Result<bool>;

    /// Reduces pairs of elements of two operands and returns true; or does nothing and returns false, if there is no such
    /// kernel.
    ///
    /// # Safety
    /// See [`Backend`].
    unsafe fn reduce_pairs(&self, job: &PairJob<'_>) -> Result<bool>;

    /// Normalises along a dim.
    ///
    /// # Safety
    /// See [`Backend`].
    unsafe fn softmax(&self, job: &SoftmaxJob<'_>) -> Result<()>;

    /// Normalises rows.
    ///
    /// # Safety
    /// See [`Backend`].
    unsafe fn norm(&self, job: &NormJob<'_>) -> Result<()>;

    /// Computes the cross entropy of rows.
    ///
    /// # Safety
    /// See [`Backend`]; every target that is not ignored is a class.
    unsafe fn entropy(&self, job: &EntropyJob<'_>) -> Result<()>;

    /// Computes prefix scans along a dim.
    ///
    /// # Safety
    /// See [`Backend`].
    unsafe fn scan(&self, job: &ScanJob<'_>) -> Result<()>;

    /// Sorts lines, or selects from them.
    ///
    /// # Safety
    /// See [`Backend`].
    unsafe fn lines(&self, job: &LineJob<'_>) -> Result<()>;

    /// Computes a convolution.
    ///
    /// # Safety
    /// See [`Backend`].
    unsafe fn conv(&self, job: &ConvJob<'_>) -> Result<()>;

    /// Computes a transposed convolution.
    ///
    /// # Safety
    /// See [`Backend`].
    unsafe fn conv_transpose(&self, job: &TransposedJob) -> Result<()>;

    /// Computes the gradient of a convolution's weight; does nothing and returns false if a regular convolution would
    /// be at least as fast.
    ///
    /// # Safety
    /// See [`Backend`].
    unsafe fn conv_weight(&self, job: &WeightGradientJob) -> Result<bool>;

    /// Computes one number from the elements under each window.
    ///
    /// # Safety
    /// See [`Backend`].
    unsafe fn pool(&self, job: &PoolJob) -> Result<()>;

    /// Puts pooled elements back at the positions they came from.
    ///
    /// # Safety
    /// See [`Backend`].
    unsafe fn unpool(&self, job: &UnpoolJob) -> Result<()>;

    /// Picks elements dim by dim.
    ///
    /// # Safety
    /// See [`Backend`].
    unsafe fn spread(&self, job: &SpreadJob<'_>) -> Result<()>;

    /// Resizes planes.
    ///
    /// # Safety
    /// See [`Backend`].
    unsafe fn resample(&self, job: &ResampleJob<'_>) -> Result<()>;

    /// Copies the elements under windows into columns, or sums columns into planes.
    ///
    /// # Safety
    /// See [`Backend`].
    unsafe fn columns(&self, job: &ColumnsJob) -> Result<()>;

    /// Multiplies matrices, once per index of the repeats, and applies the epilogue.
    ///
    /// # Safety
    /// See [`Backend`].
    unsafe fn product(&self, product: Product, repeats: &[Repeat]) -> Result<()>;

    /// Multiplies matrices of bytes; returns false, without having done anything, if the device has no instructions for it.
    ///
    /// # Safety
    /// See [`Backend`].
    unsafe fn byte_products(&self, products: &[ByteProduct]) -> Result<bool>;

    /// Computes all steps of a recurrent layer; returns false, without having done anything, if the device has no kernel.
    ///
    /// # Safety
    /// See [`Backend`].
    unsafe fn recurrent(&self, job: &RecurrentJob) -> Result<bool>;

    /// Computes attention.
    ///
    /// # Safety
    /// See [`Backend`].
    unsafe fn attention(&self, job: &AttentionJob) -> Result<()>;

    /// Computes norms of the differences of rows.
    ///
    /// # Safety
    /// See [`Backend`].
    unsafe fn distance(&self, job: &DistanceJob) -> Result<()>;

    /// Gathers elements by an index.
    ///
    /// # Safety
    /// See [`Backend`]; every index is in range, and the other operand is the destination.
    unsafe fn pick(&self, job: &IndexJob) -> Result<()>;

    /// Scatters elements by an index.
    ///
    /// # Safety
    /// See [`Backend`]; every index is in range, and the target is the destination.
    unsafe fn update(&self, job: &IndexJob, how: Update) -> Result<()>;
}
