//! Products of matrices, and what is made of them.

use nomina_core::Result;
use nomina_core::op::Op;

use super::super::Cuda;
use super::Stage;
use crate::backend::{Backend, Cpu};
use crate::call::{AttentionJob, AttentionPart, DistanceJob};
use crate::cpu::gemm::{Matrix, Product, Repeat};

fn source(stage: &mut Stage<'_>, matrix: Matrix) -> Result<Matrix> {
    let ptr = stage.read(matrix.ptr)?.cast_mut();
    Ok(Matrix { ptr, ..matrix })
}

fn dest(stage: &mut Stage<'_>, matrix: Matrix) -> Result<Matrix> {
    let ptr = stage.write(matrix.ptr)?;
    Ok(Matrix { ptr, ..matrix })
}

/// Products of matrices.
///
/// # Safety
/// See [`Backend`].
pub(crate) unsafe fn product(cuda: &Cuda, job: Product, repeats: &[Repeat]) -> Result<()> {
    let mut stage = Stage::new(cuda, Op::Matmul.name(), "product");
    let job = Product {
        a: source(&mut stage, job.a)?,
        b: source(&mut stage, job.b)?,
        addend: job.addend.map(|d| source(&mut stage, d)).transpose()?,
        c: dest(&mut stage, job.c)?,
        ..job
    };
    // SAFETY: the same positions, in copies of the same blocks.
    unsafe { Cpu.product(job, repeats)? };
    stage.finish()
}

/// Attention.
///
/// # Safety
/// See [`Backend`].
pub(crate) unsafe fn attention(cuda: &Cuda, job: &AttentionJob) -> Result<()> {
    let mut stage = Stage::new(cuda, Op::ScaledDotProductAttention.name(), "attention");
    let mut read = |part: &AttentionPart| -> Result<AttentionPart> {
        Ok(AttentionPart {
            matrix: source(&mut stage, part.matrix)?,
            dtype: part.dtype,
            batch: part.batch.clone(),
        })
    };
    let (query, key, value) = (read(&job.query)?, read(&job.key)?, read(&job.value)?);
    let mask = job.mask.as_ref().map(read).transpose()?;
    let out = AttentionPart {
        matrix: dest(&mut stage, job.out.matrix)?,
        dtype: job.out.dtype,
        batch: job.out.batch.clone(),
    };
    let job = AttentionJob {
        batch: job.batch.clone(),
        query,
        key,
        value,
        mask,
        out,
        ..*job
    };
    // SAFETY: the same positions, in copies of the same blocks.
    unsafe { Cpu.attention(&job)? };
    stage.finish()
}

/// Norms of the differences of rows.
///
/// # Safety
/// See [`Backend`].
pub(crate) unsafe fn distance(cuda: &Cuda, job: &DistanceJob) -> Result<()> {
    let mut stage = Stage::new(cuda, job.op, "distance");
    let job = DistanceJob {
        a: stage.read(job.a)?,
        b: stage.read(job.b)?,
        out: stage.write(job.out)?,
        ..*job
    };
    // SAFETY: the same positions, in copies of the same blocks.
    unsafe { Cpu.distance(&job)? };
    stage.finish()
}
