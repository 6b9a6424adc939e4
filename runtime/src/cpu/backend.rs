//! The CPU backend.

use nomina_core::op::{Op, class};
use nomina_core::{DType, Error, ErrorKind, Result, Scalar};

use crate::cpu;
use crate::dispatch::arithmetic;
use crate::job::{
    AttentionJob, Backend, ByteProduct, ColumnsJob, ConvJob, DistanceJob, Drawn, EntropyJob,
    FusedJob, IndexJob, LineJob, Multinomial, NormJob, PairJob, PartsJob, Place, Pointwise,
    PoolJob, Product, RecurrentJob, ReduceJob, Reducing, Repeat, ResampleJob, ScanJob, SoftmaxJob,
    SpreadJob, TransposedJob, TriangleJob, UnpoolJob, Update, WeightGradientJob,
};

use crate::plan::Plan;
use crate::random::{Draw, Stream};
use crate::storage::Storage;

/// The CPU backend.
pub(crate) struct Cpu;

#[cold]
fn absent(op: Op, compute: DType) -> Error {
    let what = format!("{compute} is not computed on the host");
    Error::new(ErrorKind::DType, op.name(), what).hint("convert with `to` first")
}

impl Backend for Cpu {
    #[inline]
    fn allocate(&self, op: &'static str, bytes: usize, zeroed: bool) -> Result<Storage> {
        if zeroed {
            Storage::cpu_zeroed(op, bytes)
        } else {
            Storage::cpu(op, bytes)
        }
    }

    unsafe fn upload(
        &self,
        _: &'static str,
        to: *mut u8,
        from: *const u8,
        bytes: usize,
    ) -> Result<()> {
        // SAFETY: guaranteed by the caller.
        unsafe { std::ptr::copy(from, to, bytes) };
        Ok(())
    }

    unsafe fn download(
        &self,
        _: &'static str,
        to: *mut u8,
        from: *const u8,
        bytes: usize,
    ) -> Result<()> {
        // SAFETY: guaranteed by the caller.
        unsafe { std::ptr::copy(from, to, bytes) };
        Ok(())
    }

    unsafe fn pointwise(&self, job: &Pointwise<'_>) -> Result<()> {
        let kernel = cpu::pointwise::choose(job).ok_or_else(|| absent(job.op, job.compute))?;
        if kernel.arity != job.inputs.len() {
            let what = format!("{} operands, not {}", job.inputs.len(), kernel.arity);
            return Err(Error::new(ErrorKind::Argument, job.op.name(), what)
                .hint("call it with the operands of its signature"));
        }
        // SAFETY: guaranteed by the caller.
        unsafe { cpu::pointwise::execute(kernel, job.plan, job.dest, job.inputs, job.in_place) };
        Ok(())
    }

    unsafe fn fused(&self, job: &FusedJob<'_>) -> Result<()> {
        // SAFETY: guaranteed by the caller.
        unsafe { cpu::fused::execute(job) }
    }

    unsafe fn fused_reduce(&self, job: &FusedJob<'_>, reduce: &ReduceJob<'_>) -> Result<bool> {
        // SAFETY: guaranteed by the caller.
        unsafe { cpu::fused::reduce(job, reduce) }
    }

    unsafe fn copy(&self, plan: &Plan, dest: Place, source: Place) -> Result<()> {
        // SAFETY: guaranteed by the caller.
        unsafe { cpu::cast::copy(plan, dest, source) };
        Ok(())
    }

    unsafe fn fill(&self, plan: &Plan, dest: Place, value: Scalar) -> Result<()> {
        // SAFETY: guaranteed by the caller.
        unsafe { cpu::fill::fill(plan, dest, value) };
        Ok(())
    }

    unsafe fn triangle(&self, job: &TriangleJob<'_>, dest: Place) -> Result<()> {
        // SAFETY: guaranteed by the caller.
        unsafe { cpu::triangle::clear(job, dest) };
        Ok(())
    }

    unsafe fn arange(&self, n: usize, dest: Place, start: Scalar, step: Scalar) -> Result<()> {
        // SAFETY: guaranteed by the caller.
        unsafe { cpu::fill::arange(n, dest, start, step) };
        Ok(())
    }

    unsafe fn random(&self, n: usize, dest: Place, draw: &Draw) -> Result<()> {
        // SAFETY: guaranteed by the caller.
        unsafe { cpu::random::random(n, dest, draw) };
        Ok(())
    }

    unsafe fn random_of(
        &self,
        n: usize,
        dest: Place,
        of: Place,
        what: Drawn,
        words: &Stream,
    ) -> Result<()> {
        // SAFETY: guaranteed by the caller.
        unsafe { cpu::random::random_of(n, dest, of, what, words) }
    }

    unsafe fn permutation(&self, n: usize, dest: Place, words: &Stream) -> Result<()> {
        // SAFETY: guaranteed by the caller.
        unsafe { cpu::random::permutation(n, dest, words) }
            .map_err(|error| error.in_op(Op::Randperm.name()))
    }

    unsafe fn multinomial(&self, job: &Multinomial) -> Result<()> {
        // SAFETY: guaranteed by the caller.
        unsafe { cpu::random::multinomial(job) }
    }

    unsafe fn reduce(&self, job: &ReduceJob<'_>) -> Result<()> {
        let reducer = cpu::reduce::find(job.by, job.dtype, job.compute, job.number)
            .ok_or_else(|| absent(job.op, job.compute))?;
        // SAFETY: guaranteed by the caller.
        unsafe { cpu::reduce::execute(&*reducer, job) }.map_err(|error| error.in_op(job.op.name()))
    }

    unsafe fn reduce_parts(&self, job: &PartsJob<'_>) -> Result<bool> {
        let extreme = job.by == class::Reduce::Amax;
        let reducer = if job.skips_nan && (extreme || job.by == class::Reduce::Amin) {
            cpu::reduce::parts::find_present(extreme, job.compute)
        } else {
            cpu::reduce::find(Reducing::Values(job.by), job.dtype, job.compute, job.number)
        };
        let Some(reducer) = reducer else {
            return Ok(false);
        };
        // SAFETY: guaranteed by the caller.
        unsafe { cpu::reduce::parts::execute(&*reducer, job) }
            .map_err(|error| error.in_op(job.op.name()))
    }

    unsafe fn reduce_pairs(&self, job: &PairJob<'_>) -> Result<bool> {
        // SAFETY: guaranteed by the caller.
        unsafe { cpu::pairs::execute(job) }.map_err(|error| error.in_op(job.op.name()))?;
        Ok(true)
    }

    unsafe fn softmax(&self, job: &SoftmaxJob<'_>) -> Result<()> {
        // SAFETY: guaranteed by the caller.
        unsafe { cpu::softmax::execute(job) }.map_err(|error| error.in_op(job.op.name()))
    }

    unsafe fn norm(&self, job: &NormJob<'_>) -> Result<()> {
        // SAFETY: guaranteed by the caller.
        unsafe { cpu::norm::execute(job) }.map_err(|error| error.in_op(job.op))
    }

    unsafe fn entropy(&self, job: &EntropyJob<'_>) -> Result<()> {
        // SAFETY: guaranteed by the caller.
        unsafe { cpu::loss::execute(job) }.map_err(|error| error.in_op(job.op))
    }

    unsafe fn scan(&self, job: &ScanJob<'_>) -> Result<()> {
        // SAFETY: guaranteed by the caller.
        unsafe { cpu::scan::execute(job) }.map_err(|error| error.in_op(job.op.op().name()))
    }

    unsafe fn lines(&self, job: &LineJob<'_>) -> Result<()> {
        // SAFETY: guaranteed by the caller.
        unsafe { cpu::sort::execute(job) }.map_err(|error| error.in_op(job.op))
    }

    unsafe fn conv(&self, job: &ConvJob<'_>) -> Result<()> {
        // SAFETY: guaranteed by the caller.
        unsafe { cpu::conv::convolve::execute(job) }.map_err(|error| error.in_op(job.op))
    }

    unsafe fn conv_transpose(&self, job: &TransposedJob) -> Result<()> {
        // SAFETY: guaranteed by the caller.
        unsafe { cpu::conv::transpose::execute(job) }.map_err(|error| error.in_op(job.op))
    }

    unsafe fn conv_weight(&self, job: &WeightGradientJob) -> Result<bool> {
        // SAFETY: guaranteed by the caller.
        unsafe { cpu::conv::weight::execute(job) }.map_err(|error| error.in_op(job.op))
    }

    unsafe fn pool(&self, job: &PoolJob) -> Result<()> {
        // SAFETY: guaranteed by the caller.
        unsafe { cpu::conv::pool::execute(job) }.map_err(|error| error.in_op(job.op))
    }

    unsafe fn unpool(&self, job: &UnpoolJob) -> Result<()> {
        // SAFETY: guaranteed by the caller.
        unsafe { cpu::conv::unpool::execute(job) }
    }

    unsafe fn spread(&self, job: &SpreadJob<'_>) -> Result<()> {
        // SAFETY: guaranteed by the caller.
        unsafe { cpu::conv::spread::execute(job) }.map_err(|error| error.in_op(job.op))
    }

    unsafe fn resample(&self, job: &ResampleJob<'_>) -> Result<()> {
        // SAFETY: guaranteed by the caller.
        unsafe { cpu::conv::resample::execute(job) }.map_err(|error| error.in_op(job.op))
    }

    unsafe fn columns(&self, job: &ColumnsJob) -> Result<()> {
        // SAFETY: guaranteed by the caller.
        unsafe { cpu::conv::columns::execute(job) }.map_err(|error| error.in_op(job.op))
    }

    unsafe fn product(&self, product: Product, repeats: &[Repeat]) -> Result<()> {
        if let Some(after) = product.after
            && cpu::pointwise::kernel(after.op, arithmetic(product.dtype)).is_none()
        {
            return Err(absent(after.op, product.dtype));
        }
        // SAFETY: guaranteed by the caller.
        unsafe { cpu::gemm::multiply(product, repeats) }
            .map_err(|error| error.in_op(Op::Matmul.name()))
    }

    unsafe fn byte_products(&self, products: &[ByteProduct]) -> Result<bool> {
        // SAFETY: guaranteed by the caller.
        unsafe { cpu::gemm::multiply_bytes(products) }
            .map_err(|error| error.in_op("quantized_matmul"))
    }

    unsafe fn recurrent(&self, job: &RecurrentJob) -> Result<bool> {
        // SAFETY: guaranteed by the caller.
        unsafe { cpu::recurrent::execute(job) }.map_err(|error| error.in_op("recurrent"))?;
        Ok(true)
    }

    unsafe fn attention(&self, job: &AttentionJob) -> Result<()> {
        // SAFETY: guaranteed by the caller.
        unsafe { cpu::attention::execute(job) }
            .map_err(|error| error.in_op(Op::ScaledDotProductAttention.name()))
    }

    unsafe fn distance(&self, job: &DistanceJob) -> Result<()> {
        // SAFETY: guaranteed by the caller.
        unsafe { cpu::distance::execute(job) }.map_err(|error| error.in_op(job.op))
    }

    unsafe fn pick(&self, job: &IndexJob) -> Result<()> {
        // SAFETY: guaranteed by the caller.
        unsafe { cpu::gather::pick(job) };
        Ok(())
    }

    unsafe fn update(&self, job: &IndexJob, how: Update) -> Result<()> {
        // SAFETY: guaranteed by the caller.
        let done = unsafe { cpu::gather::update(job, how) };
        done.map_err(|error| error.in_op(job.op))
    }
}
