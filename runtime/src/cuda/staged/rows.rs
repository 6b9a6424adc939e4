//! Operators along dims on the host: reductions, scans, normalisations, sorting, indexing.

use nomina_core::Result;

use super::super::Cuda;
use super::Stage;
use crate::cpu::Cpu;
use crate::job::{
    Backend, EntropyJob, IndexJob, LineJob, NormJob, Place, ReduceJob, ScanJob, SoftmaxJob, Update,
};

/// Computes a reduction.
///
/// # Safety
/// See [`Backend`].
pub(crate) unsafe fn reduce(cuda: &Cuda, job: &ReduceJob<'_>) -> Result<()> {
    let mut stage = Stage::new(cuda, job.op.name(), "reduce");
    let empty = job.shape.contains(&0);
    let job = ReduceJob {
        // A tensor without elements has no block.
        x: if empty { job.x } else { stage.read(job.x)? },
        values: stage.write(job.values)?,
        positions: stage.write(job.positions.cast())?.cast(),
        ..*job
    };
    // SAFETY: the same positions in copies of the blocks.
    unsafe { Cpu.reduce(&job)? };
    stage.finish()
}

/// Computes a softmax.
///
/// # Safety
/// See [`Backend`].
pub(crate) unsafe fn softmax(cuda: &Cuda, job: &SoftmaxJob<'_>) -> Result<()> {
    let mut stage = Stage::new(cuda, job.op.name(), "softmax");
    let job = SoftmaxJob {
        x: stage.read(job.x)?,
        out: stage.write(job.out)?,
        ..*job
    };
    // SAFETY: the same positions in copies of the blocks.
    unsafe { Cpu.softmax(&job)? };
    stage.finish()
}

/// Computes a normalisation of rows.
///
/// # Safety
/// See [`Backend`].
pub(crate) unsafe fn norm(cuda: &Cuda, job: &NormJob<'_>) -> Result<()> {
    let mut stage = Stage::new(cuda, job.op, "norm");
    let mut part = |part: Option<(Place, _)>| match part {
        None => Ok(None),
        Some((place, strides)) => stage.source(place).map(|place| Some((place, strides))),
    };
    let (weight, bias) = (part(job.weight)?, part(job.bias)?);
    let job = NormJob {
        weight,
        bias,
        x: stage.source(job.x)?,
        out: stage.dest(job.out)?,
        stats: stage.write(job.stats.cast())?.cast(),
        ..*job
    };
    // SAFETY: the same positions in copies of the blocks.
    unsafe { Cpu.norm(&job)? };
    stage.finish()
}

/// Computes the cross entropy of rows.
///
/// # Safety
/// See [`Backend`].
pub(crate) unsafe fn entropy(cuda: &Cuda, job: &EntropyJob<'_>) -> Result<()> {
    let mut stage = Stage::new(cuda, job.op, "entropy");
    let job = EntropyJob {
        x: stage.source(job.x)?,
        targets: stage.read(job.targets.cast())?.cast(),
        weight: stage.read(job.weight.cast())?.cast(),
        out: stage.write(job.out.cast())?.cast(),
        ..*job
    };
    // SAFETY: a target for each row, copied to the host.
    let targets = unsafe { std::slice::from_raw_parts(job.targets, job.outside.rows()) };
    job.outside.check(targets, job.ignore_index)?;
    // SAFETY: the same positions in copies of the blocks.
    unsafe { Cpu.entropy(&job)? };
    stage.finish()
}

/// Computes a scan.
///
/// # Safety
/// See [`Backend`].
pub(crate) unsafe fn scan(cuda: &Cuda, job: &ScanJob<'_>) -> Result<()> {
    let mut stage = Stage::new(cuda, job.op.op().name(), "scan");
    let job = ScanJob {
        x: stage.read(job.x)?,
        out: stage.write(job.out)?,
        ..*job
    };
    // SAFETY: the same positions in copies of the blocks.
    unsafe { Cpu.scan(&job)? };
    stage.finish()
}

/// Sorts lines, or selects elements of them.
///
/// # Safety
/// See [`Backend`].
pub(crate) unsafe fn lines(cuda: &Cuda, job: &LineJob<'_>) -> Result<()> {
    let mut stage = Stage::new(cuda, job.op, "sort");
    let job = LineJob {
        x: stage.read(job.x)?,
        values: stage.write(job.values)?,
        positions: stage.write(job.positions.cast())?.cast(),
        ..*job
    };
    // SAFETY: the same positions in copies of the blocks.
    unsafe { Cpu.lines(&job)? };
    stage.finish()
}

fn indexed(stage: &mut Stage<'_>, job: &IndexJob, target: Place, other: Place) -> Result<IndexJob> {
    Ok(IndexJob {
        rest: job.rest.clone(),
        target,
        other,
        index: stage.read(job.index.cast())?.cast(),
        // Only jobs with more dims than kernels support come here, and their index was checked before.
        unchecked: None,
        ..*job
    })
}

/// Gathers elements by an index.
///
/// # Safety
/// See [`Backend`].
pub(crate) unsafe fn pick(cuda: &Cuda, job: &IndexJob) -> Result<()> {
    let mut stage = Stage::new(cuda, "gather", "pick");
    let (target, other) = (stage.source(job.target)?, stage.dest(job.other)?);
    let job = indexed(&mut stage, job, target, other)?;
    // SAFETY: the same positions in copies of the blocks.
    unsafe { Cpu.pick(&job)? };
    stage.finish()
}

/// Scatters elements by an index.
///
/// # Safety
/// See [`Backend`].
pub(crate) unsafe fn update(cuda: &Cuda, job: &IndexJob, how: Update) -> Result<()> {
    let mut stage = Stage::new(cuda, "scatter", "update");
    let (target, other) = (stage.dest(job.target)?, stage.source(job.other)?);
    let job = indexed(&mut stage, job, target, other)?;
    // SAFETY: the same positions in copies of the blocks.
    unsafe { Cpu.update(&job, how)? };
    stage.finish()
}
