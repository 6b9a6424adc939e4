//! Where the operands' elements lie, counted in the order of the result's.

use crate::SmallVec;
use crate::call::FusedJob;
use crate::cpu::parallel::Shared;

use super::compile::Feed;

pub(super) struct Operand {
    pub(super) base: Shared,
    /// The size of an element.
    pub(super) size: isize,
    /// Whether the elements lie as the result's do.
    pub(super) linear: bool,
    /// Whether all elements are one.
    pub(super) constant: bool,
    /// A step in each of the dims, in bytes.
    steps: SmallVec<[isize; 6]>,
}

pub(super) struct Operands {
    pub(super) each: SmallVec<[Operand; 4]>,
    /// The sizes of the dims, innermost first, as few as all operands allow.
    sizes: SmallVec<[usize; 6]>,
}

/// The operands of a job that has elements.
pub(super) fn operands(job: &FusedJob<'_>) -> Operands {
    let mut dims: SmallVec<[usize; 8]> = (0..job.shape.len())
        .filter(|&dim| job.shape[dim] != 1)
        .collect();
    // The result is dense: its strides order the dims.
    dims.sort_by_key(|&dim| job.strides[dim]);
    let mut sizes = SmallVec::<[usize; 6]>::new();
    let mut steps: SmallVec<[SmallVec<[isize; 6]>; 4]> =
        job.inputs.iter().map(|_| SmallVec::new()).collect();
    for dim in dims {
        let size = job.shape[dim];
        let step = |input: usize| {
            let (place, strides) = &job.inputs[input];
            strides[dim] * place.dtype.size() as isize
        };
        let adjacent = sizes.last().is_some_and(|&inner: &usize| {
            (0..steps.len()).all(|i| steps[i][sizes.len() - 1] * inner as isize == step(i))
        });
        match sizes.last_mut() {
            Some(inner) if adjacent => *inner *= size,
            _ => {
                sizes.push(size);
                steps
                    .iter_mut()
                    .enumerate()
                    .for_each(|(i, steps)| steps.push(step(i)));
            }
        }
    }
    let each = job.inputs.iter().zip(steps).map(|((place, _), steps)| {
        let size = place.dtype.size() as isize;
        let mut expected = size;
        let linear = sizes.iter().zip(&steps).all(|(&n, &step)| {
            let fits = step == expected;
            expected *= n as isize;
            fits
        });
        Operand {
            base: Shared(place.ptr),
            size,
            linear,
            constant: steps.iter().all(|&step| step == 0),
            steps,
        }
    });
    Operands {
        each: each.collect(),
        sizes: sizes.clone(),
    }
}

impl Operands {
    /// Puts `n` elements from the one at `start` on into a block.
    ///
    /// # Safety
    /// The elements are there; the block has room for them.
    pub(super) unsafe fn gather(&self, feed: &Feed, start: usize, n: usize, block: *mut u8) {
        let operand = &self.each[feed.operand];
        let mut index = SmallVec::<[usize; 6]>::new();
        let (mut left, mut offset) = (start, 0);
        for (&size, &step) in self.sizes.iter().zip(&operand.steps) {
            index.push(left % size);
            offset += (left % size) as isize * step;
            left /= size;
        }
        let mut done = 0;
        while done < n {
            let run = (self.sizes[0] - index[0]).min(n - done);
            let from = operand.base.get().wrapping_offset(offset);
            let to = block.wrapping_offset(done as isize * feed.size);
            // SAFETY: a run of the operand's elements; the block has room for `n`.
            unsafe { feed.cast.run(run, from, operand.steps[0], to, feed.size) };
            done += run;
            index[0] += run;
            offset += run as isize * operand.steps[0];
            for dim in 0..self.sizes.len() {
                if index[dim] < self.sizes[dim] || dim + 1 == self.sizes.len() {
                    break;
                }
                index[dim] = 0;
                index[dim + 1] += 1;
                offset += operand.steps[dim + 1] - self.sizes[dim] as isize * operand.steps[dim];
            }
        }
    }
}
