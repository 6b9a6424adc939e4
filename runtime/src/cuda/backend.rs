//! The CUDA backend: for each class, its kernels or the fallback to the host.

use nomina_core::op::Op;
use nomina_core::{Result, Scalar};

use super::{
    Cuda, copy, entropy, fill, fused, gather, norm, order, pointwise, random, reduce, scan,
    scatter, softmax, staged,
};
use crate::job::{
    AttentionJob, Backend, ByteProduct, ColumnsJob, ConvJob, DistanceJob, Drawn, EntropyJob,
    FusedJob, IndexJob, LineJob, Multinomial, NormJob, PairJob, PartsJob, Place, Pointwise,
    PoolJob, Product, RecurrentJob, ReduceJob, Repeat, ResampleJob, ScanJob, SoftmaxJob, SpreadJob,
    TransposedJob, TriangleJob, UnpoolJob, Update, WeightGradientJob,
};

use crate::plan::Plan;
use crate::random::{Draw, Stream};
use crate::storage::Storage;

/// A step that no region may contain: a replay would repeat the numbers.
const DRAWS: &str = "draws random numbers";

impl Backend for Cuda {
    fn allocate(&self, op: &'static str, bytes: usize, zeroed: bool) -> Result<Storage> {
        self.forever(op)?.allocate(op, bytes, zeroed)
    }

    unsafe fn upload(
        &self,
        op: &'static str,
        to: *mut u8,
        from: *const u8,
        bytes: usize,
    ) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.write(op, to, from, bytes) }
    }

    unsafe fn download(
        &self,
        op: &'static str,
        to: *mut u8,
        from: *const u8,
        bytes: usize,
    ) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.read(op, to, from, bytes) }
    }

    unsafe fn pointwise(&self, job: &Pointwise<'_>) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { pointwise::execute(self, job) }
    }

    unsafe fn fused(&self, job: &FusedJob<'_>) -> Result<()> {
        // SAFETY: the caller's promise.
        if unsafe { fused::execute(self, job)? } {
            return Ok(());
        }
        // SAFETY: as above.
        unsafe { staged::fused(self, job) }
    }

    unsafe fn fused_reduce(&self, job: &FusedJob<'_>, last: &ReduceJob<'_>) -> Result<bool> {
        // SAFETY: the caller's promise.
        unsafe { reduce::reduce_chain(self.forever(job.op)?, job, last) }
    }

    unsafe fn copy(&self, plan: &Plan, dest: Place, source: Place) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { copy::execute(self, plan, dest, source) }
    }

    unsafe fn fill(&self, plan: &Plan, dest: Place, value: Scalar) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { fill::fill(self, plan, dest, value) }
    }

    unsafe fn triangle(&self, job: &TriangleJob<'_>, dest: Place) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { fill::triangle(self, job, dest) }
    }

    unsafe fn arange(&self, n: usize, dest: Place, start: Scalar, step: Scalar) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { fill::arange(self, n, dest, start, step) }
    }

    unsafe fn random(&self, n: usize, dest: Place, draw: &Draw) -> Result<()> {
        self.outside("random", DRAWS)?;
        // SAFETY: the caller's promise.
        unsafe { random::random(self.forever("random")?, n, dest, draw) }
    }

    unsafe fn random_of(
        &self,
        n: usize,
        dest: Place,
        of: Place,
        what: Drawn,
        words: &Stream,
    ) -> Result<()> {
        self.outside("random", DRAWS)?;
        // SAFETY: the caller's promise.
        unsafe { random::random_of(self.forever("random")?, n, dest, of, what, words) }
    }

    unsafe fn permutation(&self, n: usize, dest: Place, words: &Stream) -> Result<()> {
        self.outside("randperm", DRAWS)?;
        // SAFETY: the caller's promise.
        unsafe { random::permutation(self.forever("randperm")?, n, dest, words) }
    }

    unsafe fn multinomial(&self, job: &Multinomial) -> Result<()> {
        self.outside("multinomial", DRAWS)?;
        // SAFETY: the caller's promise.
        unsafe { random::multinomial(self.forever("multinomial")?, job) }
    }

    unsafe fn reduce(&self, job: &ReduceJob<'_>) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { reduce::reduce(self.forever(job.op.name())?, job) }
    }

    unsafe fn reduce_parts(&self, _: &PartsJob<'_>) -> Result<bool> {
        Ok(false)
    }

    unsafe fn reduce_pairs(&self, _: &PairJob<'_>) -> Result<bool> {
        Ok(false)
    }

    unsafe fn softmax(&self, job: &SoftmaxJob<'_>) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { softmax::softmax(self.forever(job.op.name())?, job) }
    }

    unsafe fn norm(&self, job: &NormJob<'_>) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { norm::norm(self.forever(job.op)?, job) }
    }

    unsafe fn entropy(&self, job: &EntropyJob<'_>) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { entropy::entropy(self.forever(job.op)?, job) }
    }

    unsafe fn scan(&self, job: &ScanJob<'_>) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { scan::scan(self.forever(job.op.op().name())?, job) }
    }

    unsafe fn lines(&self, job: &LineJob<'_>) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe {
            if order::execute(self, job)? {
                return Ok(());
            }
            staged::lines(self, job)
        }
    }

    unsafe fn conv(&self, job: &ConvJob<'_>) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { super::conv::conv(self.forever(job.op)?, job) }
    }

    unsafe fn byte_products(&self, _: &[ByteProduct]) -> Result<bool> {
        Ok(false)
    }

    unsafe fn recurrent(&self, _: &RecurrentJob) -> Result<bool> {
        Ok(false)
    }

    unsafe fn conv_transpose(&self, job: &TransposedJob) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { super::conv_transpose::transpose(self.forever(job.op)?, job) }
    }

    unsafe fn conv_weight(&self, job: &WeightGradientJob) -> Result<bool> {
        // SAFETY: the caller's promise.
        unsafe { super::cudnn::weight(self.forever(job.op)?, job) }
    }

    unsafe fn pool(&self, job: &PoolJob) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { super::pool::pool(self, job) }
    }

    unsafe fn unpool(&self, job: &UnpoolJob) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { super::pool::unpool(self, job) }
    }

    unsafe fn spread(&self, job: &SpreadJob<'_>) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe {
            if gather::spread(self, job)? {
                return Ok(());
            }
            staged::spread(self, job)
        }
    }

    unsafe fn resample(&self, job: &ResampleJob<'_>) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { super::resample::resample(self, job) }
    }

    unsafe fn columns(&self, job: &ColumnsJob) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { super::columns::columns(self, job) }
    }

    unsafe fn product(&self, product: Product, repeats: &[Repeat]) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { super::matmul::product(self.forever(Op::Matmul.name())?, product, repeats) }
    }

    unsafe fn attention(&self, job: &AttentionJob) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe {
            let op = Op::ScaledDotProductAttention.name();
            super::attention::execute(self.forever(op)?, job)
        }
    }

    unsafe fn distance(&self, job: &DistanceJob) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { super::distance::execute(self, job) }
    }

    unsafe fn pick(&self, job: &IndexJob) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe {
            if gather::pick(self, job)? {
                return Ok(());
            }
            staged::pick(self, job)
        }
    }

    unsafe fn update(&self, job: &IndexJob, how: Update) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe {
            if scatter::update(self, job, how)? {
                return Ok(());
            }
            staged::update(self, job, how)
        }
    }
}
