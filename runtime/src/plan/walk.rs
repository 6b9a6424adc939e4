//! Iteration over a plan.

use super::{Plan, Steps};
use crate::SmallVec;

/// A position in a plan that moves forward in runs of the innermost dim.
#[derive(Clone, Debug)]
pub(crate) struct Walk<'a> {
    plan: &'a Plan,
    index: SmallVec<[usize; 4]>,
    offsets: Steps,
}

impl<'a> Walk<'a> {
    pub(super) fn new(plan: &'a Plan, start: usize) -> Self {
        let mut left = start;
        let mut index = SmallVec::with_capacity(plan.dims.len());
        let mut offsets = Steps::default();
        for dim in &plan.dims {
            let size = dim.size.max(1);
            let i = left % size;
            left /= size;
            index.push(i);
            for (offset, step) in offsets.iter_mut().zip(&dim.steps) {
                *offset += step * i as isize;
            }
        }
        Self {
            plan,
            index,
            offsets,
        }
    }

    /// Takes at most `limit` elements that form one run; returns their number, and each operand's
    /// offset in bytes. The caller stops before it has taken more than the plan's elements.
    #[inline]
    pub(crate) fn take(&mut self, limit: usize) -> (usize, Steps) {
        let offsets = self.offsets;
        let inner = &self.plan.dims[0];
        let count = limit.min(inner.size - self.index[0]);
        self.index[0] += count;
        if self.index[0] < inner.size {
            self.step(0, count as isize);
        } else {
            self.wrap(count);
        }
        (count, offsets)
    }

    fn step(&mut self, dim: usize, count: isize) {
        for (offset, step) in self.offsets.iter_mut().zip(&self.plan.dims[dim].steps) {
            *offset += step * count;
        }
    }

    /// Returns to the start of the innermost dim, and advances the outer ones.
    fn wrap(&mut self, count: usize) {
        let back = count as isize - self.plan.dims[0].size as isize;
        self.index[0] = 0;
        self.step(0, back);
        for dim in 1..self.index.len() {
            self.index[dim] += 1;
            if self.index[dim] < self.plan.dims[dim].size {
                self.step(dim, 1);
                return;
            }
            self.step(dim, 1 - self.plan.dims[dim].size as isize);
            self.index[dim] = 0;
        }
    }
}
