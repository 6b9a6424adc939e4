//! Jobs: what a backend is asked to do.
//!
//! The entries in [`crate::call`] check dtypes and sizes and decide the result's layout; then they hand a
//! plain description, a job, to the device's [`Backend`]. A second device is a second implementation, and a
//! class of operators that it lacks does not compile.

mod data_dependent;
mod elementwise;
mod fused;
mod index;
mod lines;
mod normalize;
mod pool;
mod product;
mod random;
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
    BinJob, Binned, DataDependent, GroupJob, MaskJob, QuantileJob, Room,
};
pub(crate) use elementwise::{Constant, Input, Place, Pointwise, TriangleJob, scalar};
pub use fused::Node;
pub(crate) use fused::{FusedJob, Known};
pub use index::Update;
pub(crate) use index::{Counted, IndexJob, Unchecked};
pub(crate) use lines::{LineJob, Rows, Search, Task};
pub(crate) use normalize::{EntropyJob, NormJob, Outside, RowGradient, RowGradientJob, SoftmaxJob};
pub(crate) use pool::{Cover, PoolJob, PoolKind, Slide, Span, UnpoolJob};
pub(crate) use product::{
    AttentionJob, AttentionPart, DistanceJob, Matrix, Product, Repeat, Repeats,
};
pub(crate) use random::{Drawn, Multinomial};
pub(crate) use reduce::{ReduceJob, Reducing, ScanJob};
pub use resample::Resize;
pub(crate) use resample::{Along, ResampleJob, SpreadJob};
pub(crate) use step::{Adam, Descent, Formula, GradFactors, Momentum, StepJob, Value};
pub(crate) use window::{
    ColumnsJob, ConvJob, Sliding, TransposedJob, WeightGradientJob, Windows, is_direct,
};

/// The kernels of one device, one method per class.
///
/// Unsafe methods trust their caller that a plan's positions lie in the operands' buffers on this
/// device, that inputs are valid for their dtypes, that no two positions of a destination are
/// the same, and that it overlaps no input unless said.
pub(crate) trait Backend: DataDependent {
    /// A buffer with indeterminate content, or all zero.
    fn allocate(&self, op: &'static str, bytes: usize, zeroed: bool) -> Result<Storage>;

    /// Copies bytes from the host, whose are free when this returns.
    ///
    /// # Safety
    /// So many bytes are readable at `from`, and are a tensor's of this device at `to`.
    unsafe fn upload(
        &self,
        op: &'static str,
        to: *mut u8,
        from: *const u8,
        bytes: usize,
    ) -> Result<()>;

    /// Copies bytes to the host, when what was started before is done.
    ///
    /// # Safety
    /// So many bytes are a tensor's of this device at `from`, and writable at `to`.
    unsafe fn download(
        &self,
        op: &'static str,
        to: *mut u8,
        from: *const u8,
        bytes: usize,
    ) -> Result<()>;

    /// Computes elementwise.
    ///
    /// # Safety
    /// See [`Backend`].
    unsafe fn pointwise(&self, job: &Pointwise<'_>) -> Result<()>;

    /// Computes a chain of elementwise operators.
    ///
    /// # Safety
    /// See [`Backend`].
    unsafe fn fused(&self, job: &FusedJob<'_>) -> Result<()>;

    /// Computes a program, reduces its result, which is stored nowhere, and returns true; or does nothing
    /// and returns false, where it is better stored first.
    ///
    /// # Safety
    /// See [`Backend`].
    unsafe fn fused_reduce(&self, job: &FusedJob<'_>, reduce: &ReduceJob<'_>) -> Result<bool>;

    /// Copies operand 1 of a plan to operand 0, converting on the way.
    ///
    /// # Safety
    /// See [`Backend`].
    unsafe fn copy(&self, plan: &Plan, dest: Place, source: Place) -> Result<()>;

    /// Writes a number to operand 0 of a plan, whose operand 1 steps by zero.
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

    /// Writes random numbers to `n` adjacent elements, each of a distribution whose parameter
    /// stands at the same place of `of`, adjacent too. Parameters that say none are an error.
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

    /// Draws places by weight from each row of a matrix.
    ///
    /// # Safety
    /// See [`Backend`].
    unsafe fn multinomial(&self, job: &Multinomial) -> Result<()>;

    /// Reduces dims.
    ///
    /// # Safety
    /// See [`Backend`].
    unsafe fn reduce(&self, job: &ReduceJob<'_>) -> Result<()>;

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
    /// See [`Backend`]; every target that counts is an index of the row.
    unsafe fn entropy(&self, job: &EntropyJob<'_>) -> Result<()>;

    /// Computes running results along a dim.
    ///
    /// # Safety
    /// See [`Backend`].
    unsafe fn scan(&self, job: &ScanJob<'_>) -> Result<()>;

    /// Sorts lines, or chooses from them.
    ///
    /// # Safety
    /// See [`Backend`].
    unsafe fn lines(&self, job: &LineJob<'_>) -> Result<()>;

    /// Slides a kernel along dims and sums over channels.
    ///
    /// # Safety
    /// See [`Backend`].
    unsafe fn conv(&self, job: &ConvJob) -> Result<()>;

    /// The transpose of a convolution.
    ///
    /// # Safety
    /// See [`Backend`].
    unsafe fn conv_transpose(&self, job: &TransposedJob) -> Result<()>;

    /// The gradient of a convolution's weight; does nothing and returns false where it has no way that is better than
    /// that of a convolution.
    ///
    /// # Safety
    /// See [`Backend`].
    unsafe fn conv_weight(&self, job: &WeightGradientJob) -> Result<bool>;

    /// One number from the elements under a window.
    ///
    /// # Safety
    /// See [`Backend`].
    unsafe fn pool(&self, job: &PoolJob) -> Result<()>;

    /// Elements put back to where a window found them.
    ///
    /// # Safety
    /// See [`Backend`].
    unsafe fn unpool(&self, job: &UnpoolJob) -> Result<()>;

    /// Elements picked dim by dim.
    ///
    /// # Safety
    /// See [`Backend`].
    unsafe fn spread(&self, job: &SpreadJob<'_>) -> Result<()>;

    /// Planes at other sizes.
    ///
    /// # Safety
    /// See [`Backend`].
    unsafe fn resample(&self, job: &ResampleJob<'_>) -> Result<()>;

    /// What a window sees, as columns, and back.
    ///
    /// # Safety
    /// See [`Backend`].
    unsafe fn columns(&self, job: &ColumnsJob) -> Result<()>;

    /// Multiplies matrices, once per index of the repeats, and does what comes after.
    ///
    /// # Safety
    /// See [`Backend`].
    unsafe fn product(&self, product: Product, repeats: &[Repeat]) -> Result<()>;

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

    /// Reads where an index says.
    ///
    /// # Safety
    /// See [`Backend`]; every index is in range, and the other operand is the destination.
    unsafe fn pick(&self, job: &IndexJob) -> Result<()>;

    /// Writes where an index says.
    ///
    /// # Safety
    /// See [`Backend`]; every index is in range, and the target is the destination.
    unsafe fn update(&self, job: &IndexJob, how: Update) -> Result<()>;
}
