//! Variance that skips NaN.

use super::accumulator::{Accumulator, RowTile};
use super::moments::{Deviations, Variance};
use super::nan::add_row;
use super::real::BlockFloat;
use super::reducer::COLS;
use super::whole::{Group, LANES as WIDE};

/// The number of elements of a row that are processed at a time.
const PART: usize = 512;

/// The variance, or its root, of the elements that are not NaN.
pub(super) struct NanVariance<T>(pub Variance<T>);

/// Adds the elements of each column that are not NaN to the column's state.
#[inline(always)]
fn columns<'a, T: BlockFloat, const N: usize>(
    states: &mut [Deviations],
    rows: usize,
    row: impl Fn(usize) -> &'a [T],
) {
    let n = states.len();
    let (mut about, mut counts) = ([T::ZERO; N], [T::ZERO; N]);
    for r in 0..rows {
        add_row(&mut about[..n], &mut counts[..n], &row(r)[..n]);
    }
    for (sum, count) in about[..n].iter_mut().zip(&counts) {
        *sum = T::from_f64(sum.wide() / count.wide().max(1.0));
    }
    let (mut off, mut squares) = ([T::ZERO; N], [T::ZERO; N]);
    for r in 0..rows {
        let xs = &row(r)[..n];
        for i in 0..n {
            let d = if is_nan(xs[i]) {
                T::ZERO
            } else {
                xs[i] - about[i]
            };
            off[i] += d;
            squares[i] += d * d;
        }
    }
    for (i, state) in states.iter_mut().enumerate() {
        let [count, about, off, squares] = [counts[i], about[i], off[i], squares[i]].map(T::wide);
        if count == 0.0 {
            continue;
        }
        let block = Deviations::block(count, about, off, squares);
        if block.fits::<T>() {
            state.merge(&block);
            continue;
        }
        for x in (0..rows).map(|r| row(r)[i]).filter(|&x| !is_nan(x)) {
            state.merge(&Deviations::same(1, x));
        }
    }
}

#[inline(always)]
#[allow(clippy::eq_op, reason = "only NaN differs from itself")]
fn is_nan<T: BlockFloat>(x: T) -> bool {
    x != x
}

impl<T: BlockFloat> Accumulator for NanVariance<T> {
    type X = T;
    type State = Deviations;
    type Out = T;

    fn empty(&self) -> Deviations {
        Deviations::EMPTY
    }

    #[inline(always)]
    fn add(&self, state: &mut Deviations, x: T) {
        if !is_nan(x) {
            state.merge(&Deviations::same(1, x));
        }
    }

    fn merge(&self, state: &mut Deviations, other: &Deviations) {
        state.merge(other);
    }

    #[inline(always)]
    fn finish(&self, state: &Deviations, _: f64) -> T {
        let divisor = (state.count - self.0.correction).max(0.0);
        T::from_f64(state.finish(divisor, self.0.root))
    }

    #[inline(always)]
    fn row(&self, state: &mut Deviations, xs: &[T]) {
        let mut there = [T::ZERO; PART];
        for part in xs.chunks(PART) {
            let mut count = 0;
            for &x in part {
                there[count] = x;
                count += usize::from(!is_nan(x));
            }
            if count > 0 {
                self.0.row(state, &there[..count]);
            }
        }
    }

    #[inline(always)]
    fn columns(&self, states: &mut [Deviations], tile: RowTile<'_, T>) {
        columns::<T, COLS>(states, tile.rows(), |r| tile.row(r));
    }

    #[inline(always)]
    fn whole(&self, group: Group<'_, T>, count: f64) -> [T; WIDE] {
        let mut states = [Deviations::EMPTY; WIDE];
        columns::<T, WIDE>(&mut states, group.count(), |r| group.row(r));
        states.map(|state| self.finish(&state, count))
    }
}

#[cfg(test)]
mod tests {
    use nomina_core::op::Op;

    use crate::call::{ReduceOptions, reduce};
    use crate::raw::Raw;

    /// Computes `var` and `std` of the elements of a column that are not NaN, by definition.
    fn naive(column: &[f64], correction: f64) -> [f64; 2] {
        let there: Vec<f64> = column.iter().copied().filter(|x| !x.is_nan()).collect();
        let mean = there.iter().sum::<f64>() / there.len() as f64;
        let squares: f64 = there.iter().map(|x| (x - mean) * (x - mean)).sum();
        let var = squares / (there.len() as f64 - correction).max(0.0);
        [var, var.sqrt()]
    }

    #[test]
    fn nan_is_left_out_wherever_it_stands() {
        for (rows, cols) in [(1, 1), (3, 5), (40, 7), (700, 3), (5, 900), (64, 64)] {
            let value = |i: usize| match i * 7 % 11 {
                0 | 3 => f64::NAN,
                _ if i % cols == 2 => 4.0,
                k => k as f64 + (i % 13) as f64 / 8.0,
            };
            let data: Vec<f64> = (0..rows * cols).map(value).collect();
            let by_column: Vec<Vec<f64>> = (0..cols)
                .map(|c| (0..rows).map(|r| data[r * cols + c]).collect())
                .collect();
            for correction in [0.0, 1.0] {
                let want: Vec<[f64; 2]> = by_column.iter().map(|x| naive(x, correction)).collect();
                let columns = Raw::from_vec(data.clone(), &[rows, cols]).unwrap();
                let lines = Raw::from_vec(by_column.concat(), &[cols, rows]).unwrap();
                let options = ReduceOptions {
                    correction,
                    ..ReduceOptions::default()
                };
                for (which, op) in [Op::Nanvar, Op::Nanstd].into_iter().enumerate() {
                    for (x, dim) in [(&columns, 0), (&lines, 1)] {
                        let found = reduce(op, x, &[dim], false, options).unwrap();
                        for (found, want) in found.as_slice::<f64>().unwrap().iter().zip(&want) {
                            let near = (found - want[which]).abs() < 1e-12;
                            assert!(
                                near || (found.is_nan() && want[which].is_nan()),
                                "{op:?} of {rows} by {cols} along {dim}: {found}, not {want:?}"
                            );
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn infinities_are_no_numbers_to_deviate_from() {
        let x = Raw::from_vec(vec![f32::INFINITY, 1.0, f32::NAN, 2.0], &[4]).unwrap();
        let found = reduce(Op::Nanvar, &x, &[0], false, ReduceOptions::default()).unwrap();
        assert!(found.item().unwrap().to_f64().is_nan());
    }
}
