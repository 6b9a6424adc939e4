//! Softmax and log-softmax of short adjacent lines.

use std::marker::PhantomData;

use super::finish::Finish;
use crate::cpu::lines::TransposedLines;
use crate::cpu::reduce::logsumexp::{ExpSum, MaxFloat, origin};
use crate::cpu::reduce::simd::Kernel;
use crate::cpu::transpose::LANES;

/// The number of elements whose exponentials are summed before they are added to wider sums.
const ROWS: usize = 64;

/// A kernel that replaces short lines by their results.
pub(super) struct ShortSoftmax<T, F>(pub TransposedLines, pub PhantomData<(T, F)>);

impl<T: MaxFloat, F: Finish> Kernel for ShortSoftmax<T, F> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        let tile = self.0;
        for group in 0..tile.groups {
            // SAFETY: the creator of the tile guarantees that it is accessible and exclusive to
            // this computation.
            let row = |row: usize| unsafe { tile.row::<T>(group, row) };
            let mut tops = [T::NEG_INFINITY; LANES];
            for r in 0..tile.count {
                let xs = row(r);
                for i in 0..LANES {
                    tops[i] = if xs[i] > tops[i] { xs[i] } else { tops[i] };
                }
            }
            let from = tops.map(|top| T::from_f64(origin(top.wide())));
            let mut sums = [0.0; LANES];
            for first in (0..tile.count).step_by(ROWS) {
                let mut parts = [T::ZERO; LANES];
                for r in first..tile.count.min(first + ROWS) {
                    let xs = row(r);
                    for i in 0..LANES {
                        let power = (xs[i] - from[i]).exp_nonpositive();
                        xs[i] = F::keep(xs[i], power);
                        parts[i] += power;
                    }
                }
                for i in 0..LANES {
                    sums[i] += parts[i].wide();
                }
            }
            let mut numbers = [[T::ZERO; LANES]; 2];
            for i in 0..LANES {
                let (max, sum) = (tops[i].wide(), sums[i]);
                let [a, b] = F::numbers(&ExpSum { max, sum });
                (numbers[0][i], numbers[1][i]) = (T::from_f64(a), T::from_f64(b));
            }
            for r in 0..tile.count {
                let xs = row(r);
                for i in 0..LANES {
                    xs[i] = F::last(xs[i], [numbers[0][i], numbers[1][i]]);
                }
            }
        }
    }
}
