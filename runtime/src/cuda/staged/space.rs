//! What slides over spatial dims.

use nomina_core::Result;

use super::super::Cuda;
use super::Stage;
use crate::backend::{Backend, Cpu};
use crate::call::{ColumnsJob, ConvJob, PoolJob, ResampleJob, SpreadJob, TransposedJob};

/// A convolution.
///
/// # Safety
/// See [`Backend`].
pub(crate) unsafe fn conv(cuda: &Cuda, job: &ConvJob) -> Result<()> {
    let mut stage = Stage::new(cuda, job.op, "conv");
    let job = ConvJob {
        x: stage.read(job.x)?,
        weight: stage.read(job.weight)?,
        bias: job.bias.map(|bias| stage.read(bias)).transpose()?,
        out: stage.write(job.out)?,
        ..*job
    };
    // SAFETY: the same positions, in copies of the same blocks.
    unsafe { Cpu.conv(&job)? };
    stage.finish()
}

/// The transpose of a convolution.
///
/// # Safety
/// See [`Backend`].
pub(crate) unsafe fn conv_transpose(cuda: &Cuda, job: &TransposedJob) -> Result<()> {
    let mut stage = Stage::new(cuda, job.op, "conv_transpose");
    let job = TransposedJob {
        x: stage.read(job.x)?,
        weight: stage.read(job.weight)?,
        bias: job.bias.map(|bias| stage.read(bias)).transpose()?,
        out: stage.write(job.out)?,
        ..*job
    };
    // SAFETY: the same positions, in copies of the same blocks.
    unsafe { Cpu.conv_transpose(&job)? };
    stage.finish()
}

/// One number from the elements under a window.
///
/// # Safety
/// See [`Backend`].
pub(crate) unsafe fn pool(cuda: &Cuda, job: &PoolJob) -> Result<()> {
    let mut stage = Stage::new(cuda, job.op, "pool");
    let indices = match job.indices {
        None => None,
        Some(indices) => Some(stage.write(indices.cast())?.cast()),
    };
    let job = PoolJob {
        spans: job.spans.clone(),
        x: stage.read(job.x)?,
        out: stage.write(job.out)?,
        indices,
        ..*job
    };
    // SAFETY: the same positions, in copies of the same blocks.
    unsafe { Cpu.pool(&job)? };
    stage.finish()
}

/// Elements picked dim by dim.
///
/// # Safety
/// See [`Backend`].
pub(crate) unsafe fn spread(cuda: &Cuda, job: &SpreadJob<'_>) -> Result<()> {
    let mut stage = Stage::new(cuda, job.op, "spread");
    let job = SpreadJob {
        x: stage.read(job.x)?,
        out: stage.write(job.out)?,
        ..*job
    };
    // SAFETY: the same positions, in copies of the same blocks.
    unsafe { Cpu.spread(&job)? };
    stage.finish()
}

/// Planes at other sizes.
///
/// # Safety
/// See [`Backend`].
pub(crate) unsafe fn resample(cuda: &Cuda, job: &ResampleJob<'_>) -> Result<()> {
    let mut stage = Stage::new(cuda, job.op, "resample");
    let job = ResampleJob {
        x: stage.read(job.x)?,
        out: stage.write(job.out)?,
        ..*job
    };
    // SAFETY: the same positions, in copies of the same blocks.
    unsafe { Cpu.resample(&job)? };
    stage.finish()
}

/// Columns of what a window sees, and back.
///
/// # Safety
/// See [`Backend`].
pub(crate) unsafe fn columns(cuda: &Cuda, job: &ColumnsJob) -> Result<()> {
    let mut stage = Stage::new(cuda, job.op, "columns");
    let job = ColumnsJob {
        x: stage.read(job.x)?,
        out: stage.write(job.out)?,
        ..*job
    };
    // SAFETY: the same positions, in copies of the same blocks.
    unsafe { Cpu.columns(&job)? };
    stage.finish()
}
