//! Reductions of dims: `reduce.cu`.

use std::collections::HashSet;

use nomina_core::op::Op;
use nomina_core::op::class::{ArgReduce, Reduce};
use nomina_core::{DType, Result};

use super::fused::{ChainCall, samples};
use super::launch::Argument;
use super::lines::{Choice, LineDims, Lines, PAIR, chunked, ways};
use super::module::Module;
use super::source::{File, Source};
use super::{Cuda, staged};
use crate::SmallVec;
use crate::dispatch::arithmetic;
use crate::job::{FusedJob, ReduceJob, Reducing};

/// The arguments: `Reduce` of `reduce.cu`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct ReduceArgs {
    lines: Lines<2>,
    values: *mut u8,
    positions: *mut i64,
    number: f64,
    chunks: u32,
    flag: u32,
}

// SAFETY: the struct `Reduce` of `reduce.cu`.
unsafe impl Argument for ReduceArgs {}

/// A reduction of `reduce.cuh`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct ReduceKernel {
    name: &'static str,
    /// The dtype that elements are converted to.
    load: DType,
    /// The most bytes of a state.
    state: usize,
    number: f64,
    flag: bool,
}

/// Returns the reduction of `reduce.cuh` that computes an operator; `None` for dtypes without a kernel.
fn kind(by: Reducing, compute: DType, number: f64, count: usize) -> Option<ReduceKernel> {
    let dtype = arithmetic(compute);
    let of = |name, load: DType, state| ReduceKernel {
        name,
        load,
        state,
        number: 1.0,
        flag: false,
    };
    let (inexact, real) = (!dtype.is_integral(), !dtype.is_complex());
    // Integers are summed in i64.
    let wide = if inexact { dtype } else { DType::I64 };
    let variance = |flag| ReduceKernel {
        number: (count as f64 - number).max(0.0),
        flag,
        ..of("Variance", dtype, 24)
    };
    let there = |flag| ReduceKernel {
        flag,
        ..of("NanSum", dtype, 16)
    };
    let (kind, taken) = match by {
        Reducing::Positions(ArgReduce::Max | ArgReduce::Argmax) => (of("Argmax", dtype, 16), real),
        Reducing::Positions(ArgReduce::Min | ArgReduce::Argmin) => (of("Argmin", dtype, 16), real),
        Reducing::Values(op) => match op {
            Reduce::Sum => (of("Sum", wide, wide.size()), true),
            Reduce::Mean => {
                let number = count as f64;
                let sum = of("Sum", wide, wide.size());
                (ReduceKernel { number, ..sum }, inexact)
            }
            Reduce::Prod => (of("Prod", wide, wide.size()), true),
            Reduce::Amax => (of("Max", dtype, dtype.size()), real),
            Reduce::Amin => (of("Min", dtype, dtype.size()), real),
            Reduce::Any => (of("Any", DType::Bool, 4), true),
            Reduce::All => (of("All", DType::Bool, 4), true),
            Reduce::CountNonzero => (of("Count", DType::Bool, 8), true),
            Reduce::Var => (variance(false), inexact && real),
            Reduce::Std => (variance(true), inexact && real),
            Reduce::Nanvar | Reduce::Nanstd => {
                let flag = op == Reduce::Nanstd;
                let kind = of("NanVariance", dtype, 24);
                (
                    ReduceKernel {
                        number,
                        flag,
                        ..kind
                    },
                    inexact && real,
                )
            }
            Reduce::Nansum if inexact => (there(false), real),
            Reduce::Nansum => (of("Sum", wide, 8), true),
            Reduce::Nanmean => (there(true), inexact && real),
            Reduce::Norm => {
                let name = match number {
                    0.0 => "NormZero",
                    1.0 => "NormOne",
                    2.0 => "NormTwo",
                    f64::INFINITY => "NormMost",
                    f64::NEG_INFINITY => "NormLeast",
                    _ => "NormPower",
                };
                let norm = of(name, DType::F64, 8);
                (ReduceKernel { number, ..norm }, real)
            }
            Reduce::Logsumexp if real => (of("LogSumExp", dtype, 2 * dtype.size()), inexact),
            Reduce::Logsumexp => (of("LogSumExp", DType::C128, 24), true),
        },
    };
    taken.then_some(kind)
}

/// Returns a module of `reduce.cu` without the layout of lines.
fn module(name: &'static str, from: DType, load: DType, to: DType) -> Source {
    Source::new(File::Reduce)
        .word("OP", name)
        .dtype("T0", from)
        .dtype("T1", load)
        .dtype("T2", to)
}

/// Reduces dims.
///
/// # Safety
/// See [`Backend`].
pub(super) unsafe fn reduce(cuda: &'static Cuda, job: &ReduceJob<'_>) -> Result<()> {
    // SAFETY: the caller's promise.
    if unsafe { run(cuda, job, None)? } {
        return Ok(());
    }
    // SAFETY: the caller's promise.
    unsafe { staged::reduce(cuda, job) }
}

/// Computes a program and reduces its result, which is not stored. Returns false, without computing, if kernels do not
/// support that.
///
/// # Safety
/// See [`Backend`]; the program has elements.
pub(super) unsafe fn reduce_chain(
    cuda: &'static Cuda,
    program: &FusedJob<'_>,
    job: &ReduceJob<'_>,
) -> Result<bool> {
    match ChainCall::new(program, program.shape.iter().product())? {
        // SAFETY: the caller's promise.
        Some(chain) => unsafe { run(cuda, job, Some(&chain)) },
        None => Ok(false),
    }
}

/// Reduces the elements of a tensor or a chain.
///
/// # Safety
/// See [`reduce`].
unsafe fn run(cuda: &'static Cuda, job: &ReduceJob<'_>, chain: Option<&ChainCall>) -> Result<bool> {
    let op = job.op.name();
    let positions = !job.positions.is_null();
    let operands = [(job.strides, job.dtype.size()), (job.out, 1)];
    let walk = LineDims::new(job.shape, job.reduced, operands, positions);
    let found = kind(job.by, job.compute, job.number, walk.count);
    let way = found.and_then(|kind| {
        let choice = Choice::new(&walk, job.x, job.dtype, kind.state, &[])?;
        Some((kind, choice))
    });
    let Some((kind, choice)) = way else {
        return Ok(false);
    };
    let to = if job.values.is_null() {
        kind.load
    } else {
        job.values_dtype
    };
    let states = match choice.chunks {
        1 => None,
        _ => Some(cuda.scratch(op, choice.scratch(kind.state))?),
    };
    let mut args = ReduceArgs {
        lines: choice.lines,
        values: job.values,
        positions: job.positions,
        number: kind.number,
        chunks: choice.chunks as u32,
        flag: u32::from(kind.flag),
    };
    if let Some(states) = &states {
        args.lines.states = states.as_ptr();
    }
    let entry = if choice.rows {
        c"reduce_rows"
    } else {
        c"reduce_columns"
    };
    let module = module(kind.name, job.dtype, kind.load, to);
    let source = match chain {
        None => choice.source(module.clone()),
        Some(chain) => choice.source(behind(chain, kind.name, kind.load, to)),
    };
    let function = cuda.function(op, source, entry)?;
    // SAFETY: the dims and steps are those of the job, and the workspace has a state for each chunk; a chain's struct
    // is the last part of the argument.
    unsafe {
        match chain {
            None => cuda.launch(op, function, choice.grid, &args)?,
            Some(chain) => {
                let words = args.with(chain);
                cuda.launch_words(op, function, choice.grid, &words)?;
            }
        }
    }
    if states.is_some() && !choice.ends_itself(kind.load.size()) {
        let merge = cuda.function(op, choice.merging(module), c"reduce_chunks")?;
        // SAFETY: as above.
        unsafe { cuda.launch(op, merge, choice.merge_grid(), &args)? };
    }
    Ok(true)
}

/// Returns a module of `reduce.cu` that reduces the elements of a chain.
fn behind(chain: &ChainCall, name: &'static str, load: DType, to: DType) -> Source {
    let source = chain.before(File::Reduce).word("OP", name);
    source.dtype("T1", load).dtype("T2", to)
}

impl ReduceArgs {
    /// Returns its words followed by those of a chain, with padding for the alignment of the chain.
    fn with(&self, chain: &ChainCall) -> SmallVec<[u64; 160]> {
        const OWN: usize = size_of::<ReduceArgs>() / size_of::<u64>();
        // SAFETY: the struct consists of whole words without padding.
        let own =
            unsafe { std::slice::from_raw_parts(std::ptr::from_ref(self).cast::<u64>(), OWN) };
        let mut words = SmallVec::from_slice(own);
        if chain.aligned && !OWN.is_multiple_of(2) {
            words.push(0);
        }
        words.extend_from_slice(&chain.words);
        words
    }
}

/// Lists the modules that these calls use, except for results of another dtype than the operator's own. Of operators
/// with similar states, one covers the rarer layouts for the others. Positions of 64 bits change the same few lines in
/// all modules, so a few modules cover them.
pub(super) fn modules() -> Vec<Module> {
    const WHOLE: [Reducing; 5] = [
        Reducing::Values(Reduce::Sum),
        Reducing::Values(Reduce::Var),
        Reducing::Values(Reduce::Logsumexp),
        Reducing::Values(Reduce::Norm),
        Reducing::Positions(ArgReduce::Argmax),
    ];
    const DEGREES: [f64; 6] = [2.0, 0.0, 1.0, f64::INFINITY, f64::NEG_INFINITY, 3.0];
    let values = Reduce::ALL.iter().flat_map(|&op| {
        let degrees = if op == Reduce::Norm {
            &DEGREES
        } else {
            &DEGREES[..1]
        };
        degrees
            .iter()
            .map(move |&degree| (Reducing::Values(op), op.op(), degree))
    });
    let places = ArgReduce::ALL.iter();
    let places = places.map(|&op| (Reducing::Positions(op), op.op(), 2.0));
    // The operators with all layouts come first.
    let mut jobs: Vec<_> = values.chain(places).collect();
    jobs.sort_by_key(|(by, ..)| !WHOLE.contains(by));
    let (mut all, mut seen) = (Vec::new(), HashSet::new());
    for (by, op, degree) in jobs {
        let whole = WHOLE.contains(&by) && degree == 2.0;
        let positions = matches!(by, Reducing::Positions(_));
        for dtype in op.row().dtypes.iter() {
            let resolved = op.row().dtype.resolve(dtype, DType::F32);
            let Some(kind) = kind(by, resolved.compute, degree, 1) else {
                continue;
            };
            // Several operators may share a kernel.
            if !seen.insert((kind.name, dtype)) {
                continue;
            }
            let to = if positions { dtype } else { resolved.result };
            let source = module(kind.name, dtype, kind.load, to);
            let most = 16 / dtype.size();
            let (packs, plains): (&[usize], &[bool]) = if whole {
                (&[most, PAIR, 1], &[true, false])
            } else {
                (&[most], &[true])
            };
            let wide = kind.name == "Sum" && matches!(dtype, DType::F32 | DType::U8 | DType::C128);
            for wide in [false, true].into_iter().take(1 + usize::from(wide)) {
                for (source, rows) in ways(&source, packs, plains, wide) {
                    let entries: &[_] = if rows {
                        &[c"reduce_rows"]
                    } else {
                        &[c"reduce_columns"]
                    };
                    all.push(Module::new(source, entries));
                }
                let merge = chunked(source.clone(), wide);
                all.push(Module::new(merge, &[c"reduce_chunks"]));
            }
        }
    }
    all.extend(chains());
    all
}

/// Lists the modules that sum a chain of each dtype.
fn chains() -> Vec<Module> {
    let (mut all, mut seen) = (Vec::new(), Vec::new());
    for chain in samples() {
        let dtype = chain.dtype;
        if seen.contains(&dtype) {
            continue;
        }
        seen.push(dtype);
        let resolved = Op::Sum.row().dtype.resolve(dtype, DType::F32);
        let sum = Reducing::Values(Reduce::Sum);
        let Some(kind) = kind(sum, resolved.compute, 0.0, 1) else {
            continue;
        };
        let source = behind(&chain, kind.name, kind.load, resolved.result);
        for (source, rows) in ways(
            &source,
            &[16 / dtype.size(), PAIR, 1],
            &[true, false],
            false,
        ) {
            let entries: &[_] = if rows {
                &[c"reduce_rows"]
            } else {
                &[c"reduce_columns"]
            };
            all.push(Module::new(source, entries));
        }
    }
    all
}
