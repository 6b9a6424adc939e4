//! Iteration plans over several operands of one shape.
//!
//! The planner drops dims of size 1, orders the rest by stride, and merges neighbours that are
//! adjacent in all operands: a contiguous operation is one dim, whatever its rank. Kernels then see
//! runs of one dim.

mod walk;

#[cfg(test)]
mod tests;

use std::cmp::Ordering;

use crate::SmallVec;
use crate::shape::{Strides, row_major, scaled_stride};

pub(crate) use walk::Walk;

/// The maximal number of operands of a plan: a result and four inputs.
pub(crate) const OPERANDS: usize = 5;

/// One step of every operand, in bytes.
pub(crate) type Steps = [isize; OPERANDS];

/// One dim of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dim {
    pub size: usize,
    pub steps: Steps,
}

/// The dims of an operation, innermost first; never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    dims: SmallVec<[Dim; 4]>,
    numel: usize,
}

impl Plan {
    /// Plans operands of the shape `shape`, each with its strides in elements and the size of an
    /// element. Dims are ordered by the first operands' strides.
    pub(crate) fn new(shape: &[usize], operands: &[(&[isize], usize)]) -> Self {
        let numel = shape.iter().product();
        let steps = |dim: usize| {
            let mut steps = [0; OPERANDS];
            for (step, (strides, size)) in steps.iter_mut().zip(operands) {
                *step = scaled_stride(strides[dim], *size);
            }
            steps
        };
        let mut dims = SmallVec::<[Dim; 4]>::new();
        let mut add = |dim: usize| {
            let next = Dim {
                size: shape[dim],
                steps: steps(dim),
            };
            match dims.last_mut() {
                _ if next.size == 1 => {}
                Some(last) if adjacent(last, &next) => last.size *= next.size,
                _ => dims.push(next),
            }
        };
        if numel > 0 {
            let count = operands.len();
            let all = |dim: usize| (shape[dim], steps(dim));
            order(shape.len(), |a, b| compare(count, all(a), all(b)))
                .into_iter()
                .for_each(&mut add);
        }
        if dims.is_empty() {
            // One element, or none. Contiguous steps let kernels treat it like any other run.
            let mut steps = [0; OPERANDS];
            for (step, (_, size)) in steps.iter_mut().zip(operands) {
                *step = *size as isize;
            }
            dims.push(Dim { size: numel, steps });
        }
        Self { dims, numel }
    }

    /// Returns the number of elements of the operation.
    pub(crate) fn numel(&self) -> usize {
        self.numel
    }

    /// Returns the dims, innermost first.
    pub(crate) fn dims(&self) -> &[Dim] {
        &self.dims
    }

    /// Returns the innermost dim.
    pub(crate) fn inner(&self) -> Dim {
        self.dims[0]
    }

    /// Returns a plan of the dims around the innermost one: each of its elements is one run.
    pub(crate) fn outer(&self) -> Self {
        let mut dims = SmallVec::from_slice(&self.dims[1..]);
        if dims.is_empty() {
            dims.push(Dim {
                size: 1,
                steps: [0; OPERANDS],
            });
        }
        let numel = if self.numel == 0 {
            0
        } else {
            self.numel / self.dims[0].size
        };
        Self { dims, numel }
    }

    /// Returns whether an operand with elements of `size` bytes is contiguous in the order of the
    /// plan.
    pub(crate) fn is_linear(&self, operand: usize, size: usize) -> bool {
        let mut expected = size as isize;
        self.dims.iter().all(|dim| {
            let fits = dim.steps[operand] == expected;
            expected *= dim.size as isize;
            fits
        })
    }

    /// Returns whether an operand is a single element for the whole operation.
    pub(crate) fn is_constant(&self, operand: usize) -> bool {
        self.numel == 1 || self.dims.iter().all(|dim| dim.steps[operand] == 0)
    }

    /// Returns a walk from the element at `start`.
    pub(crate) fn walk(&self, start: usize) -> Walk<'_> {
        Walk::new(self, start)
    }
}

/// Returns whether every operand continues from the end of `inner` into the next step of `outer`.
fn adjacent(inner: &Dim, outer: &Dim) -> bool {
    let size = inner.size as isize;
    inner
        .steps
        .iter()
        .zip(&outer.steps)
        .all(|(&inner, &outer)| outer == inner * size)
}

/// Sorts the dims of a shape, innermost first: a stable insertion sort, because dims that cannot be
/// compared keep their row-major order and comparability is not transitive.
fn order(rank: usize, compare: impl Fn(usize, usize) -> Ordering) -> SmallVec<[usize; 8]> {
    let mut dims: SmallVec<[usize; 8]> = (0..rank).rev().collect();
    for end in 1..rank {
        let mut at = end;
        for below in (0..end).rev() {
            match compare(dims[below], dims[at]) {
                Ordering::Greater => {
                    dims.swap(below, at);
                    at = below;
                }
                Ordering::Less => break,
                Ordering::Equal => {}
            }
        }
    }
    dims
}

/// Compares two dims; the lesser is further inside. The first operand that steps in both decides;
/// if it steps equally far, the smaller dim is inside.
fn compare(operands: usize, a: (usize, Steps), b: (usize, Steps)) -> Ordering {
    for operand in 0..operands {
        let (inner, outer) = (a.1[operand].unsigned_abs(), b.1[operand].unsigned_abs());
        if inner == 0 || outer == 0 {
            continue;
        }
        match inner.cmp(&outer) {
            Ordering::Equal if a.0 > b.0 => return Ordering::Greater,
            Ordering::Equal => {}
            other => return other,
        }
    }
    Ordering::Equal
}

/// Returns the dims of a shape, innermost first, in the order of the strides of `inputs`.
fn stride_order(shape: &[usize], inputs: &[&[isize]]) -> SmallVec<[usize; 8]> {
    let inputs = &inputs[..inputs.len().min(OPERANDS)];
    let all = |dim: usize| {
        let mut steps = [0; OPERANDS];
        for (step, strides) in steps.iter_mut().zip(inputs) {
            *step = strides[dim];
        }
        (shape[dim], steps)
    };
    order(shape.len(), |a, b| compare(inputs.len(), all(a), all(b)))
}

/// Returns the strides of a dense copy whose dims keep the order of the original's in memory, like
/// PyTorch's `preserve_format`.
pub(crate) fn dense_strides(shape: &[usize], strides: &[isize]) -> Strides {
    let mut dense = Strides::from_elem(1, shape.len());
    let mut stride = 1_isize;
    for dim in stride_order(shape, &[strides]) {
        dense[dim] = stride;
        stride = stride.wrapping_mul(shape[dim].max(1) as isize);
    }
    dense
}

/// Returns the strides of a new dense result whose dims have the inputs' order, like PyTorch's
/// elementwise results: row-major unless an input requires another order. Inputs are broadcast to
/// `shape`.
pub(crate) fn result_strides(shape: &[usize], inputs: &[&[isize]]) -> Strides {
    let order = stride_order(shape, inputs);
    let rank = shape.len();
    if order
        .iter()
        .enumerate()
        .all(|(i, &dim)| dim == rank - i - 1)
    {
        return row_major(shape);
    }
    let mut strides = Strides::from_elem(1, rank);
    let mut stride = 1_isize;
    for dim in order {
        strides[dim] = stride;
        // A size of zero makes all strides around it zero, as in PyTorch.
        stride = stride.wrapping_mul(shape[dim] as isize);
    }
    strides
}
