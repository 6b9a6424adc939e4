//! Elementwise operators, copies and fills on the host.

use nomina_core::{Result, Scalar};

use super::super::Cuda;
use super::Stage;
use crate::SmallVec;
use crate::cpu::Cpu;
use crate::job::{Backend, FusedJob, Input, Place, Pointwise, TriangleJob};

use crate::plan::Plan;

/// Computes an elementwise operator.
///
/// # Safety
/// See [`Backend`].
pub(crate) unsafe fn pointwise(cuda: &Cuda, job: &Pointwise<'_>) -> Result<()> {
    if job.plan.numel() == 0 {
        // No elements are computed, but an operator that does not support the dtype returns an error.
        // SAFETY: the caller's promise.
        return unsafe { Cpu.pointwise(job) };
    }
    let mut stage = Stage::new(cuda, job.op.name(), "pointwise");
    let mut inputs: SmallVec<[Input; 4]> = SmallVec::new();
    for input in job.inputs {
        inputs.push(match *input {
            Input::Tensor(place) => Input::Tensor(stage.source(place)?),
            number @ Input::Scalar(_) => number,
        });
    }
    let dest = stage.dest(job.dest)?;
    let inputs = &inputs[..];
    // SAFETY: the same positions in copies of the blocks.
    unsafe {
        Cpu.pointwise(&Pointwise {
            dest,
            inputs,
            ..*job
        })?;
    }
    stage.finish()
}

/// Copies the inputs of a program to the host.
fn inputs<'a>(
    stage: &mut Stage<'_>,
    job: &FusedJob<'a>,
) -> Result<SmallVec<[(Place, &'a [isize]); 4]>> {
    job.inputs
        .iter()
        .map(|&(place, strides)| Ok((stage.source(place)?, strides)))
        .collect()
}

/// Computes a chain of elementwise operators.
///
/// # Safety
/// See [`Backend`].
pub(crate) unsafe fn fused(cuda: &Cuda, job: &FusedJob<'_>) -> Result<()> {
    if job.shape.contains(&0) {
        return Ok(());
    }
    let mut stage = Stage::new(cuda, job.op, "fused");
    let inputs = inputs(&mut stage, job)?;
    let dest = stage.dest(job.dest)?;
    let inputs = &inputs[..];
    // SAFETY: the same positions in copies of the blocks.
    unsafe {
        Cpu.fused(&FusedJob {
            inputs,
            dest,
            ..*job
        })?;
    }
    stage.finish()
}

/// Copies, with conversion of the dtype.
///
/// # Safety
/// See [`Backend`].
pub(crate) unsafe fn copy(cuda: &Cuda, plan: &Plan, dest: Place, source: Place) -> Result<()> {
    if plan.numel() == 0 {
        return Ok(());
    }
    let mut stage = Stage::new(cuda, "copy", "copy");
    let (source, dest) = (stage.source(source)?, stage.dest(dest)?);
    // SAFETY: the same positions in copies of the blocks.
    unsafe { Cpu.copy(plan, dest, source)? };
    stage.finish()
}

/// Writes a number to all elements.
///
/// # Safety
/// See [`Backend`].
pub(crate) unsafe fn fill(cuda: &Cuda, plan: &Plan, dest: Place, value: Scalar) -> Result<()> {
    if plan.numel() == 0 {
        return Ok(());
    }
    let mut stage = Stage::new(cuda, "fill", "fill");
    let dest = stage.dest(dest)?;
    // SAFETY: the same positions in copies of the blocks.
    unsafe { Cpu.fill(plan, dest, value)? };
    stage.finish()
}

/// Writes zeros on one side of a diagonal.
///
/// # Safety
/// See [`Backend`].
pub(crate) unsafe fn triangle(cuda: &Cuda, job: &TriangleJob<'_>, dest: Place) -> Result<()> {
    if job.shape.contains(&0) {
        return Ok(());
    }
    let mut stage = Stage::new(cuda, "triangle", "triangle");
    let dest = stage.dest(dest)?;
    // SAFETY: the same positions in copies of the blocks.
    unsafe { Cpu.triangle(job, dest)? };
    stage.finish()
}
