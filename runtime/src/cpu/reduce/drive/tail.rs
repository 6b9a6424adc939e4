//! Outputs with both distant and contiguous elements. The distant dims are reduced first, as columns in
//! memory order, then the contiguous elements, for which only a few states are left.

use super::super::plan::{LinePlan, Loop, Loops};
use super::super::reducer::Reducer;
use super::super::split::SmallScratch;
use super::{Driver, ReduceSource};
use crate::memory::NoMemory;

/// The most contiguous elements of an output.
const MOST: usize = 64;

/// A plan in which each of the contiguous elements is an output of its own.
pub(super) struct Tail {
    pub plan: LinePlan,
    /// The number of such outputs that form one output.
    pub size: usize,
}

impl Tail {
    /// Creates the plan; `None` if elements must come in order or the layout is unsuitable.
    pub fn new(reducer: &dyn Reducer, plan: &LinePlan) -> Option<Self> {
        let (&last, far) = plan.reduced.split_last()?;
        let (&kept, outer) = plan.kept.split_last()?;
        let fits = !reducer.ordered()
            && last.src == 1
            && kept.src == last.size as isize
            && last.size <= MOST
            && far.last()?.src > kept.src;
        if !fits {
            return None;
        }
        let mut outer: Loops = outer.into();
        outer.push(Loop {
            size: kept.size * last.size,
            src: 1,
            dst: kept.dst,
        });
        Some(Self {
            plan: LinePlan {
                kept: outer,
                reduced: far.into(),
                ..*plan
            },
            size: last.size,
        })
    }
}

impl<'a> Driver<'a> {
    /// Like [`Driver::new`], but uses the tail's plan if there is one.
    pub(super) fn with_tail(
        reducer: &'a dyn Reducer,
        plan: &'a LinePlan,
        tail: &'a Option<Tail>,
        source: ReduceSource,
    ) -> Self {
        let Some(Tail { plan: near, size }) = tail else {
            return Self::new(reducer, plan, source);
        };
        let mut walk = Self::new(reducer, near, source);
        // A cell consists of whole outputs.
        walk.width = (walk.width / size * size).max(*size);
        (walk.tail, walk.count) = (*size, plan.count());
        walk
    }

    /// Merges the adjacent states of each output. Returns the number of states left.
    ///
    /// # Safety
    /// There are `n` states, a multiple of the tail's size.
    pub(super) unsafe fn merge_tail(&self, states: *mut u8, n: usize) -> Result<usize, NoMemory> {
        let (tail, size) = (self.tail, self.size);
        if tail == 1 {
            return Ok(n);
        }
        let outputs = n / tail;
        let mut apart = SmallScratch::bytes([n, size])?;
        let apart = apart.as_mut_ptr();
        // SAFETY: there is room for these states; they are merged in their original order.
        unsafe {
            for output in 0..outputs {
                for at in 0..tail {
                    let from = states.add((output * tail + at) * size);
                    let to = apart.add((at * outputs + output) * size);
                    to.copy_from_nonoverlapping(from, size);
                }
            }
            states.copy_from_nonoverlapping(apart, outputs * size);
            for at in 1..tail {
                let from = apart.add(at * outputs * size);
                self.reducer.merge(states, from, outputs);
            }
        }
        Ok(outputs)
    }
}
