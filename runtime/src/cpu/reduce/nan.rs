//! Sums and means that skip NaN, and the count of nonzero elements.

use std::marker::PhantomData;

use super::accumulator::{Accumulator, RowTile};
use super::compensated::Compensated;
use super::real::{BlockFloat, total};
use super::reducer::COLS;
use super::whole::{Group, LANES as WIDE};

const LANES: usize = 32;
/// The number of elements that are summed before they are added to the total; each lane adds few.
const PART: usize = 16 * LANES;

/// The sum of the elements that are not NaN, and their number.
#[derive(Clone, Copy)]
pub(crate) struct NanSum {
    sum: Compensated,
    count: f64,
}

/// The sum or mean of the elements that are not NaN.
pub(super) struct NanMean<T, const MEAN: bool>(PhantomData<T>);

impl<T, const MEAN: bool> NanMean<T, MEAN> {
    pub const NEW: Self = Self(PhantomData);
}

/// Returns an element and its count: zero and zero if it is NaN.
#[inline(always)]
fn taken<T: BlockFloat>(x: T) -> (T, T) {
    // Only NaN differs from itself.
    #[allow(clippy::eq_op)]
    if x == x {
        (x, T::from_f64(1.0))
    } else {
        (T::ZERO, T::ZERO)
    }
}

/// Adds one element of each of four rows to each column.
#[inline(always)]
fn add_fours<T: BlockFloat>(sums: &mut [T], counts: &mut [T], rows: [&[T]; 4]) {
    let n = sums.len();
    let ([a, b, c, d], counts) = (rows.map(|row| &row[..n]), &mut counts[..n]);
    for i in 0..n {
        let [a, b, c, d] = [a[i], b[i], c[i], d[i]].map(taken);
        sums[i] += (a.0 + b.0) + (c.0 + d.0);
        counts[i] += (a.1 + b.1) + (c.1 + d.1);
    }
}

/// Adds an element to each column.
#[inline(always)]
pub(super) fn add_row<T: BlockFloat>(sums: &mut [T], counts: &mut [T], row: &[T]) {
    for ((sum, count), &x) in sums.iter_mut().zip(counts).zip(row) {
        let (x, one) = taken(x);
        *sum += x;
        *count += one;
    }
}

impl<T: BlockFloat, const MEAN: bool> Accumulator for NanMean<T, MEAN> {
    type X = T;
    type State = NanSum;
    type Out = T;

    fn empty(&self) -> NanSum {
        NanSum {
            sum: Compensated::ZERO,
            count: 0.0,
        }
    }

    #[inline(always)]
    fn add(&self, state: &mut NanSum, x: T) {
        let (x, one) = taken(x);
        state.sum.add(x.wide());
        state.count += one.wide();
    }

    fn merge(&self, state: &mut NanSum, other: &NanSum) {
        state.sum.merge(&other.sum);
        state.count += other.count;
    }

    #[inline(always)]
    fn finish(&self, state: &NanSum, _: f64) -> T {
        let divisor = if MEAN { state.count } else { 1.0 };
        T::from_f64(state.sum.quotient(divisor))
    }

    #[inline(always)]
    fn row(&self, state: &mut NanSum, xs: &[T]) {
        let (mut sums, mut counts) = ([T::ZERO; LANES], [T::ZERO; LANES]);
        for part in xs.chunks(PART) {
            let mut own = [T::ZERO; LANES];
            let (chunks, rest) = part.as_chunks::<LANES>();
            for chunk in chunks {
                add_row(&mut own, &mut counts, chunk);
            }
            add_row(&mut own, &mut counts, rest);
            for (sum, own) in sums.iter_mut().zip(own) {
                *sum += own;
            }
        }
        let sum = total(&sums);
        if !sum.is_finite() {
            return xs.iter().for_each(|&x| self.add(state, x));
        }
        state.sum.add(sum);
        state.count += total(&counts);
    }

    #[inline(always)]
    fn columns(&self, states: &mut [NanSum], tile: RowTile<'_, T>) {
        let (mut sums, mut counts) = ([T::ZERO; COLS], [T::ZERO; COLS]);
        let (sums, counts) = (&mut sums[..states.len()], &mut counts[..states.len()]);
        let mut r = 0;
        while r + 4 <= tile.rows() {
            add_fours(sums, counts, [0, 1, 2, 3].map(|i| tile.row(r + i)));
            r += 4;
        }
        for r in r..tile.rows() {
            add_row(sums, counts, tile.row(r));
        }
        for (i, ((state, sum), count)) in states.iter_mut().zip(&*sums).zip(&*counts).enumerate() {
            if !sum.wide().is_finite() {
                (0..tile.rows()).for_each(|r| self.add(state, tile.row(r)[i]));
                continue;
            }
            state.sum.add(sum.wide());
            state.count += count.wide();
        }
    }

    #[inline(always)]
    fn whole(&self, group: Group<'_, T>, _: f64) -> [T; WIDE] {
        let (mut sums, mut counts) = ([T::ZERO; WIDE], [T::ZERO; WIDE]);
        let whole = group.count() / 4 * 4;
        for r in (0..whole).step_by(4) {
            let [a, b, c, d] = group.four(r);
            add_fours(&mut sums, &mut counts, [a, b, c, d]);
        }
        for r in whole..group.count() {
            add_row(&mut sums, &mut counts, group.row(r));
        }
        let mut results = [T::ZERO; WIDE];
        for i in 0..WIDE {
            let divisor = if MEAN { counts[i].wide() } else { 1.0 };
            results[i] = T::from_f64(sums[i].wide() / divisor);
            if !sums[i].wide().is_finite() {
                let mut state = self.empty();
                group.rows().for_each(|row| self.add(&mut state, row[i]));
                results[i] = self.finish(&state, 0.0);
            }
        }
        results
    }
}

/// The number of nonzero elements, which are loaded as booleans.
pub(super) struct Count;

/// The most rows that a byte can count.
const BYTE: usize = 255;

impl Accumulator for Count {
    type X = bool;
    type State = i64;
    type Out = i64;

    fn empty(&self) -> i64 {
        0
    }

    #[inline(always)]
    fn add(&self, count: &mut i64, x: bool) {
        *count += i64::from(x);
    }

    fn merge(&self, count: &mut i64, other: &i64) {
        *count += other;
    }

    #[inline(always)]
    fn finish(&self, count: &i64, _: f64) -> i64 {
        *count
    }

    #[inline(always)]
    fn row(&self, count: &mut i64, xs: &[bool]) {
        for part in xs.chunks(LANES * BYTE) {
            let mut lanes = [0_u8; LANES];
            for chunk in part.chunks(LANES) {
                for (lane, &x) in lanes.iter_mut().zip(chunk) {
                    *lane += u8::from(x);
                }
            }
            *count += lanes.iter().map(|&lane| i64::from(lane)).sum::<i64>();
        }
    }

    #[inline(always)]
    fn whole(&self, group: Group<'_, bool>, _: f64) -> [i64; WIDE] {
        // There are fewer rows than a byte can count.
        let mut counts = [0_u8; WIDE];
        for xs in group.rows() {
            for i in 0..WIDE {
                counts[i] += u8::from(xs[i]);
            }
        }
        counts.map(i64::from)
    }
}
