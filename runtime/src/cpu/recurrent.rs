//! Recurrent layers: all steps of a direction in one task, with the states in the cache.

use nomina_core::op::Op;
use nomina_core::{DType, Scalar};

use crate::cpu::gemm;
use crate::cpu::parallel::try_each;
use crate::cpu::pointwise;
use crate::cpu::reduce::simd::{Kernel, dispatch};
use crate::job::{Matrix, Product, RecurrentJob, RecurrentKind};
use crate::memory::{NoMemory, Scratch};
use crate::shape::product;

/// The number of multiplications of a direction for which a second thread pays.
const PARALLEL: usize = 1 << 18;

/// Computes all steps of all directions.
///
/// # Safety
/// All elements are in bounds; nobody else accesses the results meanwhile.
pub(crate) unsafe fn execute(job: &RecurrentJob) -> Result<(), NoMemory> {
    let rows = product([job.kind.gates(), job.hidden]);
    let work = product([job.time, job.batch, rows, job.hidden]);
    let count = job.directions.len();
    // SAFETY: guaranteed by the caller; each direction has its own states and results.
    let run = |at| unsafe { direction(job, at) };
    if work < PARALLEL {
        (0..count).try_for_each(run)
    } else {
        try_each(count, &run)
    }
}

/// Computes the steps of a direction.
///
/// # Safety
/// The requirements of [`execute`].
unsafe fn direction(job: &RecurrentJob, at: usize) -> Result<(), NoMemory> {
    let direction = &job.directions[at];
    let (hidden, rows) = (job.hidden, job.kind.gates() * job.hidden);
    let mut own = Scratch::new([job.batch, rows], 0.0f32)?;
    let mut gates = Scratch::new([rows], 0.0f32)?;
    let weighted_state = own.as_mut_ptr();
    let matrix = |ptr: *const f32, rows: usize, cols: usize| Matrix {
        ptr: ptr.cast_mut().cast(),
        rows: rows as isize,
        cols: cols as isize,
    };
    let addend = direction.bias.map(|bias| matrix(bias, 0, 1));
    let weighted = Product {
        dtype: DType::F32,
        m: job.batch,
        k: hidden,
        n: rows,
        a: matrix(direction.hidden, hidden, 1),
        b: matrix(direction.weight, 1, hidden),
        c: matrix(weighted_state, rows, 1),
        alpha: Scalar::Int(1),
        beta: addend.map(|_| Scalar::Int(1)),
        addend,
        after: None,
    };
    for step in 0..job.time {
        let step = if direction.reverse {
            job.time - 1 - step
        } else {
            step
        };
        // SAFETY: the matrices have these sizes; the scratch is this task's.
        unsafe { gemm::serial(&weighted)? };
        for row in 0..job.batch {
            let place = (step * job.directions.len() + at) * job.batch + row;
            // SAFETY: guaranteed by the caller: the operands have elements for each step, direction and row.
            unsafe {
                let x = direction.gates.add((step * job.batch + row) * rows);
                dispatch(RecurrentStep {
                    job,
                    x: std::slice::from_raw_parts(x, rows),
                    own: std::slice::from_raw_parts(weighted_state.add(row * rows), rows),
                    gates: &mut gates,
                    hidden: state(direction.hidden, row, hidden),
                    cell: match job.kind {
                        RecurrentKind::Lstm => state(direction.cell, row, hidden),
                        RecurrentKind::Gru => &mut [],
                    },
                    output: state(job.outputs, place, hidden),
                });
            }
        }
    }
    Ok(())
}

/// Returns a row of a state.
///
/// # Safety
/// It is in bounds, and nobody else accesses it meanwhile.
unsafe fn state<'a>(first: *mut f32, row: usize, hidden: usize) -> &'a mut [f32] {
    // SAFETY: guaranteed by the caller.
    unsafe { std::slice::from_raw_parts_mut(first.add(row * hidden), hidden) }
}

/// One step of one row.
struct RecurrentStep<'a> {
    job: &'a RecurrentJob,
    /// The gates of the input, and of the state.
    x: &'a [f32],
    own: &'a [f32],
    /// Scratch for all gates.
    gates: &'a mut [f32],
    hidden: &'a mut [f32],
    cell: &'a mut [f32],
    output: &'a mut [f32],
}

impl Kernel for RecurrentStep<'_> {
    type Out = ();

    #[inline(always)]
    fn run(self) {
        let n = self.job.hidden;
        let (x, own) = (self.x, self.own);
        match self.job.kind {
            RecurrentKind::Lstm => {
                let (smooth, candidate) = self.gates.split_at_mut(3 * n);
                for ((gate, x), own) in smooth.iter_mut().zip(x).zip(own) {
                    *gate = x + own;
                }
                for ((gate, x), own) in candidate.iter_mut().zip(&x[3 * n..]).zip(&own[3 * n..]) {
                    *gate = x + own;
                }
                apply(Op::Sigmoid, smooth);
                apply(Op::Tanh, candidate);
                let (input, rest) = smooth.split_at(n);
                let (output, forget) = rest.split_at(n);
                let cell = &mut self.cell[..n];
                for i in 0..n {
                    cell[i] = forget[i] * cell[i] + input[i] * candidate[i];
                }
                self.hidden.copy_from_slice(cell);
                apply(Op::Tanh, self.hidden);
                for (hidden, output) in self.hidden.iter_mut().zip(output) {
                    *hidden *= output;
                }
            }
            RecurrentKind::Gru => {
                let (smooth, candidate) = self.gates.split_at_mut(2 * n);
                for ((gate, x), own) in smooth.iter_mut().zip(x).zip(own) {
                    *gate = x + own;
                }
                apply(Op::Sigmoid, smooth);
                let (update, reset) = smooth.split_at(n);
                let (x, own) = (&x[2 * n..3 * n], &own[2 * n..3 * n]);
                let candidate = &mut candidate[..n];
                for i in 0..n {
                    candidate[i] = x[i] + reset[i] * own[i];
                }
                apply(Op::Tanh, candidate);
                let hidden = &mut self.hidden[..n];
                for i in 0..n {
                    hidden[i] = candidate[i] + update[i] * (hidden[i] - candidate[i]);
                }
            }
        }
        self.output.copy_from_slice(self.hidden);
    }
}

/// Applies a function to each element.
#[inline(always)]
fn apply(op: Op, x: &mut [f32]) {
    let Some(kernel) = pointwise::kernel(op, DType::F32) else {
        unreachable!("`f32` has all functions of gates");
    };
    // SAFETY: the elements are valid and borrowed mutably.
    unsafe { pointwise::run_in_place(kernel, None, DType::F32, x.len(), x.as_mut_ptr().cast()) };
}
