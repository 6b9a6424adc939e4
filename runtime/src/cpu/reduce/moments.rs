//! Variance: the mean and squared deviations of blocks, merged.
//!
//! A block is summed in its elements' dtype. If that overflows or underflows, its elements are added again
//! one by one in `f64`, so that the result does not depend on the layout.

use std::marker::PhantomData;

use super::accumulator::{Accumulator, RowTile};
use super::real::{BlockFloat, total};
use super::reducer::COLS;
use super::scale::SquareScale;
use super::whole::{Group, LANES as WIDE};

const LANES: usize = 32;

/// The number of elements, their mean, and the sum of their squared deviations, each multiplied by the
/// scale's factor before squaring.
#[derive(Clone, Copy)]
pub(crate) struct Deviations {
    pub(super) count: f64,
    mean: f64,
    squares: f64,
    scale: SquareScale,
}

impl Deviations {
    pub(super) const EMPTY: Self = Self {
        count: 0.0,
        mean: 0.0,
        squares: 0.0,
        scale: SquareScale::One,
    };

    /// Creates the state of a block from the sum of its deviations from an approximate mean `about`, and the
    /// sum of their squares.
    #[inline(always)]
    pub(super) fn block(count: f64, about: f64, sum: f64, squares: f64) -> Self {
        let off = sum / count;
        Self {
            count,
            mean: about + off,
            squares: squares - sum * off,
            scale: SquareScale::One,
        }
    }

    /// Returns whether the sums of the block stayed in the range of `T`.
    #[inline(always)]
    pub(super) fn fits<T: BlockFloat>(&self) -> bool {
        fits::<T>(self.squares, self.mean, self.count)
    }

    /// Creates the state of `count` equal elements: the squared deviations are zero, or NaN for infinities.
    pub(super) fn same<T: BlockFloat>(count: usize, x: T) -> Self {
        Self {
            count: count as f64,
            mean: x.wide(),
            squares: x.wide() - x.wide(),
            scale: SquareScale::One,
        }
    }

    /// Adds elements, not all of which are equal, one by one.
    fn one_by_one<T: BlockFloat>(xs: impl ExactSizeIterator<Item = T>) -> Self {
        let (mut all, count) = (Self::EMPTY, xs.len() as f64);
        for x in xs {
            all.merge(&Self::same(1, x));
            if all.squares.is_nan() {
                // NaN is final.
                all.count = count;
                break;
            }
        }
        all
    }

    /// Recomputes a row whose sums left the range.
    #[cold]
    #[inline(never)]
    fn row_again<T: BlockFloat>(xs: &[T]) -> Self {
        let (first, mut others) = (xs[0], [T::ZERO; LANES]);
        for chunk in xs.chunks(LANES) {
            for (others, &x) in others.iter_mut().zip(chunk) {
                *others += differs(x, first);
            }
        }
        if others == [T::ZERO; LANES] {
            Self::same(xs.len(), xs[0])
        } else {
            Self::one_by_one(xs.iter().copied())
        }
    }

    /// Recomputes the columns of `rows` rows whose sums left the range.
    #[cold]
    #[inline(never)]
    fn columns_again<'a, T: BlockFloat>(
        columns: &mut [Self],
        rows: usize,
        row: impl Fn(usize) -> &'a [T],
    ) {
        let first = row(0);
        let mut others = [T::ZERO; COLS];
        for r in 1..rows {
            for ((others, &x), &first) in others.iter_mut().zip(row(r)).zip(first) {
                *others += differs(x, first);
            }
        }
        for (i, column) in columns.iter_mut().enumerate() {
            if others[i] == T::ZERO {
                *column = Self::same(rows, first[i]);
            } else if !column.fits::<T>() {
                *column = Self::one_by_one((0..rows).map(|r| row(r)[i]));
            }
        }
    }

    #[inline(always)]
    pub(super) fn merge(&mut self, other: &Self) {
        if other.count == 0.0 {
            return;
        }
        let count = self.count + other.count;
        let delta = other.mean - self.mean;
        let share = other.count / count;
        let mean = if delta.is_finite() {
            self.mean + delta * share
        } else {
            self.mean * (1.0 - share) + other.mean * share
        };
        // Zero if `self` is empty, however large the other mean.
        let squares = other.squares + (delta * share) * (delta * self.count);
        let all = self.squares + squares;
        let plain = self.scale == SquareScale::One && other.scale == SquareScale::One;
        if !plain || SquareScale::for_squares(all) != SquareScale::One {
            self.squares_again(other, share);
        } else {
            self.squares = all;
        }
        self.mean = mean;
        self.count = count;
    }

    /// Adds the squares of another state, in the scale that fits both.
    #[cold]
    #[inline(never)]
    fn squares_again(&mut self, other: &Self, share: f64) {
        let together = |scale: SquareScale| {
            let with = |state: &Self| {
                let factor = scale.factor() / state.scale.factor();
                state.squares * factor * factor
            };
            let delta = if self.count == 0.0 {
                0.0
            } else {
                scale.difference(other.mean, self.mean)
            };
            with(self) + (with(other) + (delta * share) * (delta * self.count))
        };
        let plain = together(SquareScale::One);
        let scale = SquareScale::for_squares(plain);
        let squares = match scale {
            SquareScale::One => plain,
            _ => together(scale),
        };
        // Zero needs no scale.
        self.scale = if squares == 0.0 {
            SquareScale::One
        } else {
            scale
        };
        self.squares = squares;
    }

    /// Returns the variance, or its root, for a divisor of the squares; NaN propagates.
    #[inline(always)]
    pub(super) fn finish(&self, divisor: f64, root: bool) -> f64 {
        let found = finish(self.squares, divisor, root);
        if self.scale == SquareScale::One {
            return found;
        }
        let factor = self.scale.factor();
        if root {
            found / factor
        } else {
            found / factor / factor
        }
    }
}

/// Returns one if two elements differ, otherwise zero; this sums faster than booleans.
#[inline(always)]
fn differs<T: BlockFloat>(x: T, from: T) -> T {
    if x == from { T::ZERO } else { T::from_f64(1.0) }
}

/// Returns whether the squared deviations of `count` elements, summed in `T`, stayed in its range. False if
/// all elements are equal.
#[inline(always)]
fn fits<T: BlockFloat>(squares: f64, mean: f64, count: f64) -> bool {
    let least = T::LEAST_SQUARE + mean * mean * T::LEAST_SHARE;
    (squares >= count * least) & (squares < f64::INFINITY)
}

/// The variance, or its root.
pub(crate) struct Variance<T> {
    /// The number subtracted from the count.
    pub correction: f64,
    /// Whether the root is taken.
    pub root: bool,
    /// The element type.
    pub element: PhantomData<T>,
}

/// Returns the variance, or its root, from the sum of squared deviations; NaN propagates.
#[inline(always)]
fn finish(squares: f64, divisor: f64, root: bool) -> f64 {
    // A sum that rounding made negative is zero.
    let variance = if squares < 0.0 { 0.0 } else { squares } / divisor;
    if root { variance.sqrt() } else { variance }
}

impl<T: BlockFloat> Accumulator for Variance<T> {
    type X = T;
    type State = Deviations;
    type Out = T;

    fn empty(&self) -> Deviations {
        Deviations::EMPTY
    }

    #[inline(always)]
    fn add(&self, state: &mut Deviations, x: T) {
        state.merge(&Deviations::same(1, x));
    }

    fn merge(&self, state: &mut Deviations, other: &Deviations) {
        state.merge(other);
    }

    #[inline(always)]
    fn finish(&self, state: &Deviations, count: f64) -> T {
        let divisor = (count - self.correction).max(0.0);
        T::from_f64(state.finish(divisor, self.root))
    }

    /// Computes the sum and the squared deviations in lanes.
    #[inline(always)]
    fn row(&self, state: &mut Deviations, xs: &[T]) {
        let n = xs.len() as f64;
        let mut lanes = [T::ZERO; LANES];
        for chunk in xs.chunks(LANES) {
            for (lane, &x) in lanes.iter_mut().zip(chunk) {
                *lane += x;
            }
        }
        let about = T::from_f64(total(&lanes) / n);
        let (mut off, mut squares) = ([T::ZERO; LANES], [T::ZERO; LANES]);
        let mut chunks = xs.chunks_exact(LANES);
        for chunk in &mut chunks {
            for i in 0..LANES {
                let d = chunk[i] - about;
                off[i] += d;
                squares[i] += d * d;
            }
        }
        for (i, &x) in chunks.remainder().iter().enumerate() {
            let d = x - about;
            off[i] += d;
            squares[i] += d * d;
        }
        let block = Deviations::block(n, about.wide(), total(&off), total(&squares));
        state.merge(&if block.fits::<T>() {
            block
        } else {
            Deviations::row_again(xs)
        });
    }

    #[inline(always)]
    fn columns(&self, states: &mut [Deviations], tile: RowTile<'_, T>) {
        let n = states.len();
        let row = |r: usize| &tile.row(r)[..n];
        let mut about = [T::ZERO; COLS];
        for r in 0..tile.rows() {
            for (sum, &x) in about[..n].iter_mut().zip(row(r)) {
                *sum += x;
            }
        }
        let part = T::from_f64(1.0 / tile.rows() as f64);
        for sum in &mut about[..n] {
            *sum = *sum * part;
        }
        let (mut off, mut squares) = ([T::ZERO; COLS], [T::ZERO; COLS]);
        for r in 0..tile.rows() {
            let xs = row(r);
            for i in 0..n {
                let d = xs[i] - about[i];
                off[i] += d;
                squares[i] += d * d;
            }
        }
        // Written out below: closures are compiled for the smallest instruction set.
        let (count, mut misfits) = (tile.rows() as f64, 0_u64);
        let share = 1.0 / count;
        for i in 0..n {
            let (about, off, squares) = (about[i].wide(), off[i].wide(), squares[i].wide());
            misfits += u64::from(!fits::<T>(squares - off * (off * share), about, count));
        }
        if misfits > 0 {
            let mut blocks = [Deviations::EMPTY; COLS];
            let blocks = &mut blocks[..n];
            for (i, to) in blocks.iter_mut().enumerate() {
                *to = Deviations::block(count, about[i].wide(), off[i].wide(), squares[i].wide());
            }
            Deviations::columns_again(blocks, tile.rows(), row);
            for (state, block) in states.iter_mut().zip(&*blocks) {
                state.merge(block);
            }
            return;
        }
        for (i, state) in states.iter_mut().enumerate() {
            let (about, off, squares) = (about[i].wide(), off[i].wide(), squares[i].wide());
            state.merge(&Deviations::block(count, about, off, squares));
        }
    }

    #[inline(always)]
    fn whole(&self, group: Group<'_, T>, count: f64) -> [T; WIDE] {
        let divisor = (count - self.correction).max(0.0);
        let share = 1.0 / group.count() as f64;
        let part = T::from_f64(share);
        let mut about = [T::ZERO; WIDE];
        for xs in group.rows() {
            for i in 0..WIDE {
                about[i] += xs[i];
            }
        }
        let about = about.map(|sum| sum * part);
        let (mut off, mut squares) = ([T::ZERO; WIDE], [T::ZERO; WIDE]);
        for xs in group.rows() {
            for i in 0..WIDE {
                let d = xs[i] - about[i];
                off[i] += d;
                squares[i] += d * d;
            }
        }
        let (count, mut misfits) = (group.count(), 0_u64);
        let mut sums = [0.0; WIDE];
        for i in 0..WIDE {
            let off = off[i].wide();
            sums[i] = squares[i].wide() - off * (off * share);
            misfits += u64::from(!fits::<T>(sums[i], about[i].wide(), count as f64));
        }
        if misfits > 0 {
            let mut columns = [Deviations::EMPTY; WIDE];
            for (i, column) in columns.iter_mut().enumerate() {
                *column = Deviations {
                    count: count as f64,
                    mean: about[i].wide(),
                    squares: sums[i],
                    scale: SquareScale::One,
                };
            }
            Deviations::columns_again(&mut columns, count, |r| group.row(r).as_slice());
            return columns.map(|column| T::from_f64(column.finish(divisor, self.root)));
        }
        let mut results = [T::ZERO; WIDE];
        for i in 0..WIDE {
            results[i] = T::from_f64(finish(sums[i], divisor, self.root));
        }
        results
    }
}

#[cfg(test)]
mod tests {
    use nomina_core::op::Op;

    use super::super::tests::lines;
    use super::*;
    use crate::call::{ReduceOptions, reduce};
    use crate::raw::Raw;

    fn found(op: Op, x: &Raw, dims: &[usize]) -> Vec<f64> {
        let found = reduce(op, x, dims, false, ReduceOptions::default()).unwrap();
        found.scalars().map(|x| x.to_f64()).collect()
    }

    fn check<T: BlockFloat>(xs: &[f64], expected: f64) {
        let xs: Vec<T> = xs.iter().map(|&x| T::from_f64(x)).collect();
        for (layout, x, dims) in lines(&xs) {
            for (op, expected) in [(Op::Var, expected), (Op::Std, expected.sqrt())] {
                let expected = T::from_f64(expected).wide();
                for got in found(op, &x, &dims) {
                    let near = (got - expected).abs() <= 1e-4 * expected;
                    assert!(
                        got == expected || near || (got.is_nan() && expected.is_nan()),
                        "{op:?} of {} {}, {layout}: {got}, not {expected}",
                        xs.len(),
                        T::DTYPE
                    );
                }
            }
        }
    }

    /// Checks the root of a variance that is out of range.
    fn check_roots(xs: &[f64], expected: f64) {
        for (layout, x, dims) in lines(xs) {
            for op in [Op::Std, Op::Nanstd] {
                for got in found(op, &x, &dims) {
                    let near = (got - expected).abs() <= 1e-12 * expected;
                    assert!(
                        near,
                        "{op:?} of {} {layout}: {got}, not {expected}",
                        xs.len()
                    );
                }
            }
            for got in found(Op::Var, &x, &dims) {
                assert_eq!(got, expected * expected, "{layout}");
            }
        }
    }

    #[test]
    fn the_range_of_squares_depends_on_no_layout() {
        let lengths: &[usize] = if cfg!(miri) {
            &[3, 20]
        } else {
            &[2, 3, 7, 16, 40, 65, 1000, 9000]
        };
        for &n in lengths {
            let scaled =
                |scale: f64| -> Vec<f64> { (0..n).map(|i| (i % 7) as f64 / 7.0 * scale).collect() };
            let one = scaled(1.0);
            let mean = one.iter().sum::<f64>() / n as f64;
            let squares: f64 = one.iter().map(|x| (x - mean) * (x - mean)).sum();
            let variance = squares / (n - 1) as f64;
            // The roots are in range, but the squares are not.
            for scale in [1e-30, 1e-20, 1e-10, 1.0, 1e10, 1e19, 1e30, 3e38] {
                check::<f32>(&scaled(scale), variance * scale * scale);
            }
            for scale in [1e-150, 1.0, 1e150] {
                check::<f64>(&scaled(scale), variance * scale * scale);
            }
            for scale in [1e-300, 1e-170, 1e160, 1e200, 1.7e308] {
                check_roots(&scaled(scale), variance.sqrt() * scale);
            }
            for same in [0.0, 0.1, 1e-40, 1e30, 3e38] {
                check::<f32>(&vec![same; n], 0.0);
            }
            for same in [1e200, 1.7e308, -1.1e308] {
                check::<f64>(&vec![same; n], 0.0);
            }
            for odd in [f64::INFINITY, f64::NAN] {
                let mut xs = scaled(1.0);
                xs[n / 2] = odd;
                check::<f32>(&xs, f64::NAN);
                check::<f64>(&xs, f64::NAN);
            }
        }
    }
}
