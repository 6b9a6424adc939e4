//! Sums over pairs of elements: co-moments and weighted sums.

use crate::cpu::reduce::simd::{Kernel, dispatch};

/// The most columns of a tile.
pub(super) const WIDTH: usize = 256;

/// A float that is widened to `f64`.
pub(super) trait WidenedPair: Copy + Default + Send + Sync + 'static {
    /// Returns the number as `f64`.
    fn wide(self) -> f64;
}

impl WidenedPair for f32 {
    #[inline(always)]
    fn wide(self) -> f64 {
        f64::from(self)
    }
}

impl WidenedPair for f64 {
    #[inline(always)]
    fn wide(self) -> f64 {
        self
    }
}

/// The sums of each column of a tile.
pub(super) trait PairSums: Copy + Send + Sync {
    /// Returns the sums of no pairs.
    fn empty() -> Self;

    /// Adds rows of `n` pairs, each column to its own sums.
    fn add<T: WidenedPair>(&mut self, n: usize, xs: &[&[T]], ys: &[&[T]]);

    /// Merges the sums of further pairs in the first `n` columns.
    fn merge(&mut self, other: &Self, n: usize);

    /// Merges the first `n` columns into the first.
    fn join(&mut self, n: usize);
}

/// One number for each column.
type PerColumn = [f64; WIDTH];
const ZERO: PerColumn = [0.0; WIDTH];

/// Returns whether a pair counts: with `SKIPS`, if neither is NaN.
#[inline(always)]
#[allow(clippy::eq_op, reason = "only NaN differs from itself")]
fn is_counted<const SKIPS: bool>(a: f64, b: f64) -> bool {
    !SKIPS || (a == a) & (b == b)
}

/// The counts, means and summed products of deviations of pairs, which are combined as Chan, Golub and LeVeque do.
#[derive(Clone, Copy)]
pub(super) struct CoMoments<const SKIPS: bool> {
    count: PerColumn,
    means: [PerColumn; 2],
    /// The sums of the first operand's squares, of the second's, and of the products.
    sums: [PerColumn; 3],
}

impl<const SKIPS: bool> CoMoments<SKIPS> {
    pub(super) fn correlation(&self, at: usize) -> f64 {
        let [xx, yy, xy] = [0, 1, 2].map(|i| self.sums[i][at]);
        // Rounding may lead beyond 1.
        (xy / (xx.sqrt() * yy.sqrt())).clamp(-1.0, 1.0)
    }

    pub(super) fn covariance(&self, at: usize, correction: f64) -> f64 {
        self.sums[2][at] / (self.count[at] - correction).max(0.0)
    }

    /// Merges the moments of one column into another's.
    #[inline(always)]
    fn combine(&mut self, at: usize, count: f64, means: [f64; 2], sums: [f64; 3]) {
        let before = self.count[at];
        let all = before + count;
        let share = if all > 0.0 { count / all } else { 0.0 };
        let x = means[0] - self.means[0][at];
        let y = means[1] - self.means[1][at];
        let weight = before * share;
        self.sums[0][at] += sums[0] + x * x * weight;
        self.sums[1][at] += sums[1] + y * y * weight;
        self.sums[2][at] += sums[2] + x * y * weight;
        self.means[0][at] += x * share;
        self.means[1][at] += y * share;
        self.count[at] = all;
    }
}

/// A kernel that adds rows to sums.
struct AddRows<'a, S, T> {
    sums: &'a mut S,
    n: usize,
    xs: &'a [&'a [T]],
    ys: &'a [&'a [T]],
}

impl<const SKIPS: bool, T: WidenedPair> Kernel for AddRows<'_, CoMoments<SKIPS>, T> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        let n = self.n.min(WIDTH);
        let (mut count, mut mean_x, mut mean_y) = (ZERO, ZERO, ZERO);
        for (x, y) in self.xs.iter().zip(self.ys) {
            let (x, y) = (&x[..n], &y[..n]);
            for i in 0..n {
                let (a, b) = (x[i].wide(), y[i].wide());
                let is = is_counted::<SKIPS>(a, b);
                count[i] += if is { 1.0 } else { 0.0 };
                mean_x[i] += if is { a } else { 0.0 };
                mean_y[i] += if is { b } else { 0.0 };
            }
        }
        for i in 0..n {
            let divisor = if count[i] > 0.0 { count[i] } else { 1.0 };
            mean_x[i] /= divisor;
            mean_y[i] /= divisor;
        }
        let (mut xx, mut yy, mut xy) = (ZERO, ZERO, ZERO);
        for (x, y) in self.xs.iter().zip(self.ys) {
            let (x, y) = (&x[..n], &y[..n]);
            for i in 0..n {
                let (a, b) = (x[i].wide(), y[i].wide());
                let is = is_counted::<SKIPS>(a, b);
                let a = if is { a - mean_x[i] } else { 0.0 };
                let b = if is { b - mean_y[i] } else { 0.0 };
                xx[i] += a * a;
                yy[i] += b * b;
                xy[i] += a * b;
            }
        }
        for i in 0..n {
            let means = [mean_x[i], mean_y[i]];
            self.sums.combine(i, count[i], means, [xx[i], yy[i], xy[i]]);
        }
    }
}

impl<const SKIPS: bool> PairSums for CoMoments<SKIPS> {
    fn empty() -> Self {
        Self {
            count: ZERO,
            means: [ZERO; 2],
            sums: [ZERO; 3],
        }
    }

    fn add<T: WidenedPair>(&mut self, n: usize, xs: &[&[T]], ys: &[&[T]]) {
        dispatch(AddRows {
            sums: self,
            n,
            xs,
            ys,
        });
    }

    fn merge(&mut self, other: &Self, n: usize) {
        for i in 0..n {
            let (means, sums) = (other.means.map(|of| of[i]), other.sums.map(|of| of[i]));
            self.combine(i, other.count[i], means, sums);
        }
    }

    fn join(&mut self, n: usize) {
        for i in 1..n {
            let (means, sums) = (self.means.map(|of| of[i]), self.sums.map(|of| of[i]));
            self.combine(0, self.count[i], means, sums);
        }
    }
}

/// The sums of weights and of products with weights, each with its rounding errors.
#[derive(Clone, Copy)]
pub(super) struct WeightedSums<const SKIPS: bool> {
    weights: [PerColumn; 2],
    products: [PerColumn; 2],
}

/// Adds a number to a sum, and the rounding error to what is lost.
#[inline(always)]
fn add_exactly(sum: &mut f64, lost: &mut f64, x: f64) {
    let all = *sum + x;
    let part = all - *sum;
    *lost += (*sum - (all - part)) + (x - part);
    *sum = all;
}

/// Returns a sum with what is lost; infinite sums lose nothing that counts.
fn total(sum: f64, lost: f64) -> f64 {
    if sum.is_finite() { sum + lost } else { sum }
}

impl<const SKIPS: bool> WeightedSums<SKIPS> {
    pub(super) fn mean(&self, at: usize) -> f64 {
        let [weights, products] =
            [&self.weights, &self.products].map(|[sum, lost]| total(sum[at], lost[at]));
        if weights == 0.0 {
            return f64::NAN;
        }
        products / weights
    }

    fn combine(&mut self, at: usize, weights: f64, products: f64) {
        let [sum, lost] = &mut self.weights;
        add_exactly(&mut sum[at], &mut lost[at], weights);
        let [sum, lost] = &mut self.products;
        add_exactly(&mut sum[at], &mut lost[at], products);
    }
}

impl<const SKIPS: bool, T: WidenedPair> Kernel for AddRows<'_, WeightedSums<SKIPS>, T> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        let n = self.n.min(WIDTH);
        let (mut weights, mut products) = (ZERO, ZERO);
        for (x, y) in self.xs.iter().zip(self.ys) {
            let (x, y) = (&x[..n], &y[..n]);
            for i in 0..n {
                let (a, weight) = (x[i].wide(), y[i].wide());
                // A weight that is NaN counts.
                let is = is_counted::<SKIPS>(a, 0.0);
                weights[i] += if is { weight } else { 0.0 };
                products[i] += if is { a * weight } else { 0.0 };
            }
        }
        for i in 0..n {
            let [sum, lost] = &mut self.sums.weights;
            add_exactly(&mut sum[i], &mut lost[i], weights[i]);
            let [sum, lost] = &mut self.sums.products;
            add_exactly(&mut sum[i], &mut lost[i], products[i]);
        }
    }
}

impl<const SKIPS: bool> PairSums for WeightedSums<SKIPS> {
    fn empty() -> Self {
        Self {
            weights: [ZERO; 2],
            products: [ZERO; 2],
        }
    }

    fn add<T: WidenedPair>(&mut self, n: usize, xs: &[&[T]], ys: &[&[T]]) {
        dispatch(AddRows {
            sums: self,
            n,
            xs,
            ys,
        });
    }

    fn merge(&mut self, other: &Self, n: usize) {
        for i in 0..n {
            self.combine(i, other.weights[0][i], other.products[0][i]);
            self.weights[1][i] += other.weights[1][i];
            self.products[1][i] += other.products[1][i];
        }
    }

    fn join(&mut self, n: usize) {
        for i in 1..n {
            self.combine(0, self.weights[0][i], self.products[0][i]);
            self.weights[1][0] += self.weights[1][i];
            self.products[1][0] += self.products[1][i];
        }
    }
}
