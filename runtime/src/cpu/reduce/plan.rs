//! Turns a shape and the dims to reduce into loops: fewer dims, in memory order.

use smallvec::SmallVec;

/// A loop: size, stride of the operand, stride of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Loop {
    pub size: usize,
    pub src: isize,
    pub dst: isize,
}

/// Loops, outermost first.
pub(crate) type Loops = SmallVec<[Loop; 6]>;

/// The loops of a reduction.
#[derive(Clone, Debug)]
pub(crate) struct LinePlan {
    /// The loops over the outputs.
    pub kept: Loops,
    /// The loops over the elements of one output.
    pub reduced: Loops,
    /// The offset of the first element visited, in elements of the operand; nonzero because
    /// negative strides are reversed.
    pub src: isize,
    /// Like `src`, but in the result.
    pub dst: isize,
}

impl LinePlan {
    /// Plans a reduction of the dims marked by `reduce`. With `ordered`, the elements of an output
    /// come in row-major order. `dst` are the result's strides, one per operand dim; those of
    /// reduced dims are ignored. No size is 0.
    pub fn new(
        shape: &[usize],
        src: &[isize],
        dst: &[isize],
        reduce: &[bool],
        ordered: bool,
    ) -> Self {
        let mut plan = Self {
            kept: Loops::new(),
            reduced: Loops::new(),
            src: 0,
            dst: 0,
        };
        for dim in 0..shape.len() {
            if shape[dim] == 1 {
                continue;
            }
            let mut one = Loop {
                size: shape[dim],
                src: src[dim],
                dst: dst[dim],
            };
            if reduce[dim] {
                one.dst = 0;
            }
            if one.src < 0 && !(reduce[dim] && ordered) {
                plan.src += (one.size as isize - 1) * one.src;
                plan.dst += (one.size as isize - 1) * one.dst;
                one.src = -one.src;
                one.dst = -one.dst;
            }
            if reduce[dim] {
                plan.reduced.push(one)
            } else {
                plan.kept.push(one)
            }
        }
        plan.kept.sort_by_key(|one| std::cmp::Reverse(one.src));
        if !ordered {
            plan.reduced.sort_by_key(|one| std::cmp::Reverse(one.src));
        }
        merge(&mut plan.kept);
        merge(&mut plan.reduced);
        plan
    }

    /// Returns the number of outputs.
    pub fn outputs(&self) -> usize {
        self.kept.iter().map(|one| one.size).product()
    }

    /// Returns the number of elements of one output.
    pub fn count(&self) -> usize {
        self.reduced.iter().map(|one| one.size).product()
    }
}

/// Merges pairs of loops in which the outer one continues the inner one.
pub(crate) fn merge(loops: &mut Loops) {
    let mut out = Loops::new();
    for &inner in loops.iter() {
        match out.last_mut() {
            Some(outer)
                if outer.src == inner.src * inner.size as isize
                    && outer.dst == inner.dst * inner.size as isize =>
            {
                *outer = Loop {
                    size: outer.size * inner.size,
                    ..inner
                };
            }
            _ => out.push(inner),
        }
    }
    *loops = out;
}

/// Returns the offsets, in operand and result, of the `index`-th iteration of nested loops.
pub(crate) fn offsets(loops: &[Loop], mut index: usize) -> (isize, isize) {
    let (mut src, mut dst) = (0, 0);
    for one in loops.iter().rev() {
        let at = (index % one.size) as isize;
        index /= one.size;
        src += at * one.src;
        dst += at * one.dst;
    }
    (src, dst)
}

/// Calls `f(offset, length)` for the runs along the innermost loop that make up the iterations
/// `from..to` of nested loops. Stops when `f` returns false.
pub(crate) fn runs(
    loops: &[Loop],
    from: usize,
    to: usize,
    mut f: impl FnMut(isize, usize) -> bool,
) {
    let Some((inner, outer)) = loops.split_last() else {
        f(0, to - from);
        return;
    };
    let mut at = from;
    while at < to {
        let (row, col) = (at / inner.size, at % inner.size);
        let n = (inner.size - col).min(to - at);
        if !f(offsets(outer, row).0 + col as isize * inner.src, n) {
            return;
        }
        at += n;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contiguous_dims_become_one_loop() {
        let plan = LinePlan::new(&[2, 3, 4], &[12, 4, 1], &[0; 3], &[true; 3], true);
        assert_eq!(
            plan.reduced.as_slice(),
            [Loop {
                size: 24,
                src: 1,
                dst: 0
            }]
        );
        assert_eq!((plan.outputs(), plan.count()), (1, 24));
        let plan = LinePlan::new(
            &[2, 3, 4],
            &[12, 4, 1],
            &[3, 1, 0],
            &[false, false, true],
            false,
        );
        assert_eq!(
            plan.kept.as_slice(),
            [Loop {
                size: 6,
                src: 4,
                dst: 1
            }]
        );
    }

    #[test]
    fn order_of_memory_unless_positions_count() {
        let mark = [true, true];
        let plan = LinePlan::new(&[2, 3], &[1, 2], &[0; 2], &mark, false);
        assert_eq!(
            plan.reduced.as_slice(),
            [Loop {
                size: 6,
                src: 1,
                dst: 0
            }]
        );
        let plan = LinePlan::new(&[2, 3], &[1, 2], &[0; 2], &mark, true);
        assert_eq!(plan.reduced.len(), 2);
    }

    #[test]
    fn negative_strides_are_reversed() {
        let plan = LinePlan::new(&[4, 3], &[-3, 1], &[1, 0], &[false, true], false);
        assert_eq!(
            plan.kept.as_slice(),
            [Loop {
                size: 4,
                src: 3,
                dst: -1
            }]
        );
        assert_eq!((plan.src, plan.dst), (-9, 3));
    }

    #[test]
    fn runs_cover_a_range_once() {
        let loops = [
            Loop {
                size: 3,
                src: 10,
                dst: 0,
            },
            Loop {
                size: 4,
                src: 1,
                dst: 0,
            },
        ];
        let mut seen = vec![];
        runs(&loops, 2, 9, |offset, n| {
            seen.extend((0..n as isize).map(|i| offset + i));
            true
        });
        assert_eq!(seen, [2, 3, 10, 11, 12, 13, 20]);
    }
}
