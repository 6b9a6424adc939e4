//! Softmax and its logarithm along a dim: `softmax.cu`.

use nomina_core::op::Op;
use nomina_core::{DType, Result};

use super::launch::Argument;
use super::lines::{Beside, Choice, LineDims, Lines, held, ways};
use super::module::Module;
use super::source::{File, Source};
use super::{Cuda, staged};
use crate::dispatch::arithmetic;
use crate::job::SoftmaxJob;

/// The arguments: `Job` of `softmax.cu`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct SoftmaxArgs {
    lines: Lines<2>,
    out: *mut u8,
}

// SAFETY: the struct `Job` of `softmax.cu`.
unsafe impl Argument for SoftmaxArgs {}

/// The names of softmax and its logarithm in `softmax.cu`.
const NAMES: [&str; 2] = ["Softmax", "LogSoftmax"];

/// Returns a module of `softmax.cu` without the layout of lines.
fn module(name: &'static str, from: DType, compute: DType, to: DType) -> Source {
    Source::new(File::Softmax)
        .word("OP", name)
        .dtype("T0", from)
        .dtype("T1", arithmetic(compute))
        .dtype("T2", to)
}

/// Normalises along a dim.
///
/// # Safety
/// See [`Backend`].
pub(super) unsafe fn softmax(cuda: &'static Cuda, job: &SoftmaxJob<'_>) -> Result<()> {
    let op = job.op.name();
    let marked: crate::SmallVec<[bool; 8]> =
        (0..job.shape.len()).map(|dim| dim == job.dim).collect();
    let operands = [
        (job.strides, job.dtype.size()),
        (job.out_strides, job.out_dtype.size()),
    ];
    let walk = LineDims::new(job.shape, &marked, operands, false);
    let double = arithmetic(job.compute) == DType::F64;
    let state = 2 * arithmetic(job.compute).size();
    let out = Beside {
        at: job.out,
        size: job.out_dtype.size(),
        any: false,
    };
    let name = NAMES[usize::from(job.logarithm)];
    let choice = Choice::new(&walk, job.x, job.dtype, state, &[out]);
    let Some(choice) = choice else {
        // SAFETY: the caller's promise.
        return unsafe { staged::softmax(cuda, job) };
    };
    let module = module(name, job.dtype, job.compute, job.out_dtype);
    let mut args = SoftmaxArgs {
        lines: choice.lines,
        out: job.out,
    };
    let entries = [c"softmax_held", c"softmax_rows", c"softmax_columns"];
    // SAFETY: the dims and steps are those of the job.
    unsafe {
        choice.write(
            cuda,
            op,
            module,
            entries,
            (state, double),
            &mut args,
            |args| &mut args.lines,
        )
    }
}

/// Lists every module that these calls use, except for results of another dtype than the operator's own.
pub(super) fn modules() -> Vec<Module> {
    let mut all = Vec::new();
    for name in NAMES {
        for dtype in Op::Softmax.row().dtypes.iter() {
            let source = module(name, dtype, dtype, dtype);
            let most = 16 / dtype.size();
            for pack in [1, most] {
                for source in held(&source, pack) {
                    all.push(Module::new(source, &[c"softmax_held"]));
                }
            }
            for phase in ["STATES", "FUSED", "WRITE"] {
                let source = source.clone().word("PHASE", phase);
                for (source, rows) in ways(&source, &[most, 1], &[true], false) {
                    let entries: &[_] = if rows {
                        &[c"softmax_rows"]
                    } else {
                        &[c"softmax_columns"]
                    };
                    all.push(Module::new(source, entries));
                }
            }
        }
    }
    all
}
