//! Maps of dims on the host.

use nomina_core::Result;

use super::super::Cuda;
use super::Stage;
use crate::cpu::Cpu;
use crate::job::{Backend, SpreadJob};

/// Gathers elements by a map for each dim.
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
    // SAFETY: the same positions in copies of the blocks.
    unsafe { Cpu.spread(&job)? };
    stage.finish()
}
