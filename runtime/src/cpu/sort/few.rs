//! Sorting networks for lines of a few elements: the same pairs are compared in all lines, so that a
//! register compares one line per lane.

use smallvec::SmallVec;

use super::key::{KeyBits, KeyKind};
use super::line::Found;
use super::packed::PackedKey;
use crate::cpu::reduce::simd::{Kernel, dispatch};
use crate::cpu::transpose::LANES;
use crate::job::Task;

/// The most elements of a line: for longer lines the number of pairs grows faster than the cost of
/// other algorithms.
const LENGTH: usize = 16;

/// Returns whether lines of `len` elements are sorted here for a task.
pub(super) fn takes(task: Task, len: usize, lines: usize) -> bool {
    let sorts = matches!(
        task,
        Task::Sort { .. } | Task::Top { .. } | Task::Nth(_) | Task::Median { .. }
    );
    sorts && (2..=LENGTH).contains(&len) && lines >= LANES / 2
}

/// The pairs of positions to compare, in order: Batcher's odd-even merge sort.
type ComparedPairs = SmallVec<[[u8; 2]; 64]>;

fn pairs(len: usize) -> ComparedPairs {
    let mut all = ComparedPairs::new();
    let mut run = 1;
    while run < len {
        let mut step = run;
        while step > 0 {
            for first in (step % run..len - step).step_by(2 * step) {
                for i in first..(first + step).min(len - step) {
                    if i / (2 * run) == (i + step) / (2 * run) {
                        all.push([i as u8, (i + step) as u8]);
                    }
                }
            }
            step /= 2;
        }
        run *= 2;
    }
    all
}

/// Lines side by side.
type LineBlock<P> = [[P; LANES]; LENGTH];

struct Network<'a, P>(&'a mut LineBlock<P>, &'a ComparedPairs);

impl<P: PackedKey> Kernel for Network<'_, P> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        let Self(tile, pairs) = self;
        for &[low, high] in pairs {
            let (low, high) = (low as usize % LENGTH, high as usize % LENGTH);
            let (a, b) = (tile[low], tile[high]);
            for lane in 0..LANES {
                tile[low][lane] = a[lane].min(b[lane]);
            }
            for lane in 0..LANES {
                tile[high][lane] = a[lane].max(b[lane]);
            }
        }
    }
}

/// Performs the task on `lines` lines of `len` elements; each has `count` results.
pub(super) fn sort<'a, B: KeyBits, P: PackedKey>(
    task: Task,
    kind: KeyKind,
    line: impl Fn(usize) -> &'a [B],
    [lines, len, count]: [usize; 3],
    values: &mut [B],
    positions: &mut [i64],
) {
    let pairs = pairs(len);
    let descending = match task {
        Task::Sort { descending } => descending,
        Task::Top { largest } => largest,
        _ => false,
    };
    let turn = if descending { B::ALL } else { 0 };
    let mut tile: LineBlock<P> = [[P::new(0, 0); LANES]; LENGTH];
    for first in (0..lines).step_by(LANES) {
        let n = LANES.min(lines - first);
        for (lane, i) in (first..first + n).enumerate() {
            for (at, x) in line(i).iter().enumerate() {
                tile[at][lane] = P::new(x.key(kind) ^ turn, at);
            }
        }
        dispatch(Network(&mut tile, &pairs));
        for (lane, i) in (first..first + n).enumerate() {
            let (line, own) = (line(i), i * count);
            let part = |all: usize| if all == 0 { 0..0 } else { own..own + count };
            let (v, p) = (part(values.len()), part(positions.len()));
            let mut found = Found {
                values: &mut values[v],
                positions: &mut positions[p],
            };
            let sorted = |place: usize| tile[place][lane].at();
            match task {
                Task::Nth(place) => found.set(0, line, sorted(place)),
                Task::Median { ignore_nan } => {
                    let nan = |&place: &usize| line[sorted(place)].is_nan(kind);
                    // NaNs are last, in their original order.
                    let numbers = (0..len).find(nan).unwrap_or(len);
                    let place = if ignore_nan || numbers == len {
                        numbers.saturating_sub(1) / 2
                    } else {
                        numbers
                    };
                    found.set(0, line, sorted(place));
                }
                _ => (0..count).for_each(|place| found.set(place, line, sorted(place))),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use nomina_core::op::Op;

    use super::*;
    use crate::call::{sort, to_dtype, topk, typical};
    use crate::cpu::reduce::tests::noise;
    use crate::raw::Raw;

    #[test]
    fn pairs_sort_every_pattern() {
        for len in 1..=LENGTH {
            let pairs = pairs(len);
            // A network that sorts all lines of two different values sorts all lines.
            let patterns = if cfg!(miri) { 8 } else { 1_u32 << len };
            for pattern in 0..patterns {
                let mut line: Vec<u32> = (0..len).map(|at| pattern >> at & 1).collect();
                for &[low, high] in &pairs {
                    if line[low as usize] > line[high as usize] {
                        line.swap(low as usize, high as usize);
                    }
                }
                assert!(line.is_sorted(), "{len} {pattern:b}");
            }
        }
    }

    /// Returns lines with ties, NaN and zeros of both signs.
    fn lines(rows: usize, len: usize) -> Vec<f64> {
        let special = [
            f64::NAN,
            -0.0,
            0.0,
            f64::INFINITY,
            f64::NEG_INFINITY,
            1.0,
            1.0,
        ];
        let pick = |x: f64| match (x * 4.0) as i32 {
            i @ 0..7 => special[i as usize],
            _ => x,
        };
        noise(rows * len, len as u64 + 1)
            .into_iter()
            .map(pick)
            .collect()
    }

    #[test]
    fn short_lines_are_sorted_as_single_ones() {
        let rows = if cfg!(miri) { 9 } else { 100 };
        for len in 1..=LENGTH + 1 {
            for dtype in [nomina_core::DType::F32, nomina_core::DType::F64] {
                let x = Raw::from_vec(lines(rows, len), &[rows, len]).unwrap();
                let x = to_dtype(&x, dtype).unwrap();
                let k = len.div_ceil(2) as i64;
                let all = |x: &Raw| {
                    [
                        sort(Op::Sort, x, 1, false).unwrap(),
                        sort(Op::Sort, x, 1, true).unwrap(),
                        topk(Op::Topk, x, k, 1, true).unwrap(),
                        typical(Op::Median, x, 1, true).unwrap(),
                        typical(Op::Nanmedian, x, 1, true).unwrap(),
                    ]
                };
                let text = |x: &Raw| x.scalars().map(|x| format!("{x:?}")).collect::<Vec<_>>();
                let many = all(&x);
                for row in 0..rows {
                    // A single line takes another path.
                    let one = all(&x.slice(0, row, 1, 1).unwrap());
                    for (many, one) in many.iter().zip(&one) {
                        let of = |x: &Raw| text(&x.slice(0, row, 1, 1).unwrap());
                        assert_eq!(of(&many.0), text(&one.0), "{dtype} {len}");
                        assert_eq!(of(&many.1), text(&one.1), "{dtype} {len}");
                    }
                }
            }
        }
    }
}
