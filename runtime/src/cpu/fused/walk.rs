//! Element addresses of the operands, in the memory order of the result, and how loops read them.

use nomina_core::DType;

use crate::SmallVec;
use crate::job::FusedJob;

use crate::cpu::cast::Cast;
use crate::cpu::parallel::Shared;

/// Rows shorter than this are processed several at a time.
const SHORT: usize = 256;

/// The index of a block; 0 is the result itself.
pub(super) type BlockIndex = usize;

pub(crate) struct WalkOperand {
    pub(super) base: Shared,
    /// The size of an element.
    pub(crate) size: isize,
    /// Whether the strides equal those of the result.
    pub(crate) linear: bool,
    /// Whether all elements are one element.
    pub(crate) constant: bool,
    /// Whether all rows are the same row.
    pub(super) repeats: bool,
    /// The step in each dim, in bytes.
    steps: SmallVec<[isize; 6]>,
}

impl WalkOperand {
    /// Returns the step within a row, in bytes.
    pub(crate) fn inner(&self) -> isize {
        self.step(0)
    }

    /// Returns the step in a dim, counted from the innermost, in bytes.
    pub(crate) fn step(&self, dim: usize) -> isize {
        self.steps.get(dim).copied().unwrap_or(0)
    }
}

/// How loops read an operand.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Reads {
    /// In place; its layout is that of the result.
    Dense,
    /// In place, row by row.
    Direct,
    /// From a block that is filled once, with one element.
    Once,
    /// From a block that is filled once, with as many copies of a row as fit.
    Rows,
    /// From a block that is filled each time.
    Block,
}

impl Reads {
    pub(super) fn select(operand: &WalkOperand, same: bool, short: bool) -> Self {
        if same && operand.linear {
            Self::Dense
        } else if operand.constant {
            Self::Once
        } else if short && operand.repeats {
            Self::Rows
        } else if same && !short && operand.inner() == operand.size {
            Self::Direct
        } else {
            Self::Block
        }
    }

    /// Returns whether the operand needs a block.
    pub(super) fn copies(self) -> bool {
        !matches!(self, Self::Dense | Self::Direct)
    }
}

/// An operand converted to one of the dtypes that loops read.
pub(super) struct Feed {
    pub(super) operand: usize,
    /// The slot that loops read.
    pub(super) slot: BlockIndex,
    /// The block, if there is one. It equals `slot` except for repeating rows, which loops read at an
    /// offset: the column at which the current run begins.
    pub(super) home: BlockIndex,
    pub(super) cast: Cast,
    /// The size of an element in the block.
    pub(super) size: isize,
    pub(super) reads: Reads,
    pub(super) dtype: DType,
}

pub(crate) struct WalkOperands {
    pub(crate) each: SmallVec<[WalkOperand; 4]>,
    /// The sizes of the dims, innermost first, merged as far as all operands allow.
    pub(crate) sizes: SmallVec<[usize; 6]>,
    /// The length of a row: a run of the innermost dim.
    pub(crate) row: usize,
    /// Whether blocks hold many rows instead of part of one.
    pub(super) short: bool,
}

impl WalkOperands {
    /// Creates the operands of a job whose result is not empty.
    pub(crate) fn new(job: &FusedJob<'_>) -> Self {
        let mut all = Self {
            each: SmallVec::new(),
            sizes: SmallVec::new(),
            row: 1,
            short: false,
        };
        let mut dims: SmallVec<[usize; 8]> = (0..job.shape.len())
            .filter(|&dim| job.shape[dim] != 1)
            .collect();
        // The result is dense, so its strides give the order of the dims.
        dims.sort_by_key(|&dim| job.strides[dim]);
        for (place, _) in job.inputs {
            all.each.push(WalkOperand {
                base: Shared(place.ptr),
                size: place.dtype.size() as isize,
                linear: true,
                constant: true,
                repeats: true,
                steps: SmallVec::new(),
            });
        }
        for dim in dims {
            let size = job.shape[dim];
            let step = |at: usize, operand: &WalkOperand| job.inputs[at].1[dim] * operand.size;
            let mut each = all.each.iter().enumerate();
            match all.sizes.last_mut() {
                Some(inner)
                    if each.all(|(at, operand)| {
                        let last = operand.steps.last().copied().unwrap_or(0);
                        last * *inner as isize == step(at, operand)
                    }) =>
                {
                    *inner *= size;
                }
                _ => {
                    all.sizes.push(size);
                    for (at, operand) in all.each.iter_mut().enumerate() {
                        operand.steps.push(step(at, operand));
                    }
                }
            }
        }
        for operand in &mut all.each {
            let mut expected = operand.size;
            for (&n, &step) in all.sizes.iter().zip(&operand.steps) {
                operand.linear &= step == expected;
                operand.constant &= step == 0;
                expected *= n as isize;
            }
            operand.repeats = operand.steps.iter().skip(1).all(|&step| step == 0);
        }
        all.row = all.sizes.first().copied().unwrap_or(1);
        all.short = all.sizes.len() > 1 && all.row < SHORT;
        all
    }

    /// Returns the address of an element.
    pub(super) fn at(&self, operand: &WalkOperand, start: usize) -> *mut u8 {
        let (mut left, mut offset) = (start, 0);
        for (&size, &step) in self.sizes.iter().zip(&operand.steps) {
            offset += (left % size) as isize * step;
            left /= size;
        }
        operand.base.get().wrapping_offset(offset)
    }

    /// Gathers `n` elements from `start` on into a block.
    ///
    /// # Safety
    /// The elements are in bounds; the block has room for them.
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
