//! What a device can do.
//!
//! The entries in [`crate::call`] check dtypes and sizes and decide the result's layout; then they
//! hand a plain descriptor to the device's backend. A second device is a second implementation,
//! and an operator class it lacks does not compile.

mod host;
mod moves;

use crate::Device;
use nomina_core::op::Op;
use nomina_core::{DType, Result, Scalar};

use crate::call;
use crate::cpu;
use crate::cpu::gather::{IndexJob, Update};
use crate::cpu::gemm::{Product, Repeat};
use crate::cpu::pointwise::Kernel;
pub(crate) use crate::dispatch::arithmetic;
use crate::plan::Plan;
use crate::random::{Draw, Stream};
use crate::storage::Storage;
pub(crate) use host::Cpu;
#[cfg(feature = "cuda")]
pub(crate) use moves::Room;
pub(crate) use moves::{BinJob, Binned, Counted, GroupJob, MaskJob, Moves, QuantileJob, Unchecked};

/// Where the elements of an operand begin on its device.
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

/// An elementwise operation: operand 0 of the plan is the result, the others are the inputs, of
/// which numbers step by zero.
pub(crate) struct Pointwise<'a> {
    pub(crate) op: Op,
    /// The dtype that the inputs are converted to.
    pub(crate) compute: DType,
    pub(crate) plan: &'a Plan,
    pub(crate) dest: Place,
    pub(crate) inputs: &'a [Input],
    /// Whether inputs may be the very elements of the result.
    pub(crate) in_place: bool,
}

/// How an operand of a dense operation lies beside the result.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Lane {
    /// One element for each of the result.
    Whole(*const u8),
    /// So many elements, over and over.
    Rows(*const u8, usize),
    /// Elements that stand for so many each.
    Columns(*const u8, usize),
    /// A number for all.
    Number(Scalar),
}

impl Lane {
    /// After how many elements of the result it repeats, or goes on to its next element.
    #[inline]
    pub(crate) fn period(&self) -> Option<usize> {
        match *self {
            Self::Rows(_, n) | Self::Columns(_, n) => Some(n),
            Self::Whole(_) | Self::Number(_) => None,
        }
    }
}

/// An elementwise operation on adjacent elements in the dtypes of its loop.
pub(crate) struct Dense<'a> {
    /// How many elements the result has.
    pub(crate) count: usize,
    pub(crate) dest: *mut u8,
    /// Periods are all the same, and divide the count.
    pub(crate) lanes: &'a [Lane],
    /// Whether a whole operand is the very elements of the result.
    pub(crate) in_place: bool,
}

/// The kernels of one device, one method per class.
///
/// Unsafe methods trust their caller that a plan's positions lie in the operands' buffers on this
/// device, that inputs are valid for their dtypes, that no two positions of a destination are
/// the same, and that it overlaps no input unless said.
pub(crate) trait Backend: Moves {
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

    /// The loop of an elementwise operator over dense operands that computes in `dtype`, where the
    /// device has one; [`Backend::pointwise`] is the way without.
    fn dense_loop(&self, op: Op, dtype: DType) -> Option<&'static Kernel>;

    /// Computes elementwise with such a loop.
    ///
    /// # Safety
    /// See [`Backend`].
    unsafe fn dense(&self, kernel: &Kernel, job: &Dense<'_>);

    /// Computes a chain of elementwise operators.
    ///
    /// # Safety
    /// See [`Backend`].
    unsafe fn fused(&self, job: &call::FusedJob<'_>) -> Result<()>;

    /// Computes a program, reduces its result, which is stored nowhere, and returns true; or does nothing
    /// and returns false, where it is better stored first.
    ///
    /// # Safety
    /// See [`Backend`].
    unsafe fn fused_reduce(
        &self,
        job: &call::FusedJob<'_>,
        reduce: &call::ReduceJob<'_>,
    ) -> Result<bool>;

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
    unsafe fn triangle(&self, job: &call::TriangleJob<'_>, dest: Place) -> Result<()>;

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
        what: call::Drawn,
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
    unsafe fn multinomial(&self, job: &call::Multinomial) -> Result<()>;

    /// Reduces dims.
    ///
    /// # Safety
    /// See [`Backend`].
    unsafe fn reduce(&self, job: &call::ReduceJob<'_>) -> Result<()>;

    /// Normalises along a dim.
    ///
    /// # Safety
    /// See [`Backend`].
    unsafe fn softmax(&self, job: &call::SoftmaxJob<'_>) -> Result<()>;

    /// Normalises rows.
    ///
    /// # Safety
    /// See [`Backend`].
    unsafe fn norm(&self, job: &call::NormJob<'_>) -> Result<()>;

    /// Computes the cross entropy of rows.
    ///
    /// # Safety
    /// See [`Backend`]; every target that counts is an index of the row.
    unsafe fn entropy(&self, job: &call::EntropyJob<'_>) -> Result<()>;

    /// Computes running results along a dim.
    ///
    /// # Safety
    /// See [`Backend`].
    unsafe fn scan(&self, job: &call::ScanJob<'_>) -> Result<()>;

    /// Sorts lines, or chooses from them.
    ///
    /// # Safety
    /// See [`Backend`].
    unsafe fn lines(&self, job: &cpu::sort::LineJob<'_>) -> Result<()>;

    /// Slides a kernel along dims and sums over channels.
    ///
    /// # Safety
    /// See [`Backend`].
    unsafe fn conv(&self, job: &call::ConvJob) -> Result<()>;

    /// The transpose of a convolution.
    ///
    /// # Safety
    /// See [`Backend`].
    unsafe fn conv_transpose(&self, job: &call::TransposedJob) -> Result<()>;

    /// One number from the elements under a window.
    ///
    /// # Safety
    /// See [`Backend`].
    unsafe fn pool(&self, job: &call::PoolJob) -> Result<()>;

    /// Elements put back to where a window found them.
    ///
    /// # Safety
    /// See [`Backend`].
    unsafe fn unpool(&self, job: &call::UnpoolJob) -> Result<()>;

    /// Elements picked dim by dim.
    ///
    /// # Safety
    /// See [`Backend`].
    unsafe fn spread(&self, job: &call::SpreadJob<'_>) -> Result<()>;

    /// Planes at other sizes.
    ///
    /// # Safety
    /// See [`Backend`].
    unsafe fn resample(&self, job: &call::ResampleJob<'_>) -> Result<()>;

    /// What a window sees, as columns, and back.
    ///
    /// # Safety
    /// See [`Backend`].
    unsafe fn columns(&self, job: &call::ColumnsJob) -> Result<()>;

    /// Multiplies matrices, once per index of the repeats, and does what comes after.
    ///
    /// # Safety
    /// See [`Backend`].
    unsafe fn product(&self, product: Product, repeats: &[Repeat]) -> Result<()>;

    /// Computes attention.
    ///
    /// # Safety
    /// See [`Backend`].
    unsafe fn attention(&self, job: &call::AttentionJob) -> Result<()>;

    /// Computes norms of the differences of rows.
    ///
    /// # Safety
    /// See [`Backend`].
    unsafe fn distance(&self, job: &call::DistanceJob) -> Result<()>;

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

/// The backend of a device.
///
/// # Errors
/// [`ErrorKind::Device`] for a device that is not there.
#[inline]
pub(crate) fn backend(op: &'static str, device: Device) -> Result<&'static dyn Backend> {
    match device {
        Device::Cpu => Ok(&Cpu),
        Device::Cuda(ordinal) => cuda_backend(op, ordinal),
    }
}

#[cfg(feature = "cuda")]
fn cuda_backend(op: &'static str, ordinal: Option<usize>) -> Result<&'static dyn Backend> {
    let ordinal = ordinal.unwrap_or_else(crate::cuda::current);
    crate::cuda::Cuda::get(op, ordinal).map(|cuda| cuda as &dyn Backend)
}

#[cfg(not(feature = "cuda"))]
fn cuda_backend(op: &'static str, ordinal: Option<usize>) -> Result<&'static dyn Backend> {
    // There is none in this build, which is what this says.
    crate::cuda::check(op, ordinal.unwrap_or_else(crate::cuda::current))?;
    Ok(&Cpu)
}
