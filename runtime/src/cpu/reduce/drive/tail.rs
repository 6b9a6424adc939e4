//! Outputs with both distant and contiguous elements. The distant dims are reduced first, as columns in
//! memory order, then the contiguous elements, for which only a few states are left.

use super::super::plan::{LinePlan, Loop, Loops};
use super::super::reducer::Reducer;

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
