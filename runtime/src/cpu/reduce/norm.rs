//! Norms. Elements are loaded as `f64`, so that squares of `f32` cannot overflow and rounding errors stay small.
//! Elements of `f64` whose powers overflow or underflow are scaled, a block at a time.

use super::accumulator::{Accumulator, RowTile};
use super::reducer::{COLS, Reducer};
use super::scale::{SquareScale, Squares, inverse_exponent};
use super::whole::{Group, LANES as WIDE};

const LANES: usize = 16;

/// The function that a norm applies to each magnitude, and how it combines the values.
trait Degree: Sync + 'static {
    /// The norm of no elements.
    const START: f64;
    /// Returns the term of one element.
    fn term(&self, x: f64) -> f64;
    /// Combines two partial results.
    fn combine(a: f64, b: f64) -> f64;
    /// Returns the norm.
    fn finish(&self, total: f64) -> f64;
}

/// Returns the greater of two numbers; NaN if either is.
#[inline(always)]
fn greater(a: f64, b: f64) -> f64 {
    if a > b || a.is_nan() { a } else { b }
}

/// Returns the smaller of two numbers; NaN if either is.
#[inline(always)]
fn smaller(a: f64, b: f64) -> f64 {
    if a < b || a.is_nan() { a } else { b }
}

macro_rules! degrees {
    ($($(#[$doc:meta])* $name:ident, $start:expr, $term:expr, $combine:expr, $finish:expr;)*) => {$(
        $(#[$doc])*
        struct $name;

        impl Degree for $name {
            const START: f64 = $start;
            #[inline(always)]
            fn term(&self, x: f64) -> f64 {
                let term: fn(f64) -> f64 = $term;
                term(x)
            }
            #[inline(always)]
            fn combine(a: f64, b: f64) -> f64 {
                let combine: fn(f64, f64) -> f64 = $combine;
                combine(a, b)
            }
            #[inline(always)]
            fn finish(&self, total: f64) -> f64 {
                let finish: fn(f64) -> f64 = $finish;
                finish(total)
            }
        }
    )*};
}

degrees! {
    /// The number of nonzero elements.
    Zero, 0.0, |x| if x == 0.0 { 0.0 } else { 1.0 }, |a, b| a + b, |total| total;
    /// The sum of magnitudes.
    One, 0.0, f64::abs, |a, b| a + b, |total| total;
    /// The greatest magnitude.
    Greatest, 0.0, f64::abs, greater, |total| total;
    /// The smallest magnitude.
    Smallest, f64::INFINITY, f64::abs, smaller, |total| total;
}

/// Returns the reducer of degree `p`.
pub(super) fn reducer(p: f64) -> Box<dyn Reducer> {
    match p {
        0.0 => Box::new(NormReduction(Zero)),
        1.0 => Box::new(NormReduction(One)),
        2.0 => Box::new(Euclidean),
        f64::INFINITY => Box::new(NormReduction(Greatest)),
        f64::NEG_INFINITY => Box::new(NormReduction(Smallest)),
        p => Box::new(Power(p)),
    }
}

struct NormReduction<D>(D);

impl<D: Degree> Accumulator for NormReduction<D> {
    type X = f64;
    type State = f64;
    type Out = f64;

    #[inline(always)]
    fn empty(&self) -> f64 {
        D::START
    }

    #[inline(always)]
    fn add(&self, total: &mut f64, x: f64) {
        *total = D::combine(*total, self.0.term(x));
    }

    fn merge(&self, total: &mut f64, other: &f64) {
        *total = D::combine(*total, *other);
    }

    #[inline(always)]
    fn finish(&self, total: &f64, _: f64) -> f64 {
        self.0.finish(*total)
    }

    #[inline(always)]
    fn row(&self, total: &mut f64, xs: &[f64]) {
        let mut lanes = [D::START; LANES];
        let (chunks, rest) = xs.as_chunks::<LANES>();
        for chunk in chunks {
            for i in 0..LANES {
                self.add(&mut lanes[i], chunk[i]);
            }
        }
        for (lane, &x) in lanes.iter_mut().zip(rest) {
            self.add(lane, x);
        }
        *total = D::combine(*total, lanes.into_iter().fold(D::START, D::combine));
    }

    #[inline(always)]
    fn columns(&self, states: &mut [f64], tile: RowTile<'_, f64>) {
        let mut totals = [D::START; COLS];
        let totals = &mut totals[..states.len()];
        for r in 0..tile.rows() {
            for (total, &x) in totals.iter_mut().zip(tile.row(r)) {
                self.add(total, x);
            }
        }
        for (state, &total) in states.iter_mut().zip(&*totals) {
            *state = D::combine(*state, total);
        }
    }
}

/// The root of the sum of squares.
struct Euclidean;

/// Returns the sum of squares.
#[inline(always)]
fn sum_of_squares(xs: &[f64]) -> f64 {
    let mut lanes = [0.0; LANES];
    let (chunks, rest) = xs.as_chunks::<LANES>();
    for chunk in chunks {
        for i in 0..LANES {
            lanes[i] += chunk[i] * chunk[i];
        }
    }
    for (lane, &x) in lanes.iter_mut().zip(rest) {
        *lane += x * x;
    }
    lanes.into_iter().fold(0.0, |sum, lane| sum + lane)
}

impl Accumulator for Euclidean {
    type X = f64;
    type State = Squares;
    type Out = f64;

    #[inline(always)]
    fn empty(&self) -> Squares {
        Squares::ZERO
    }

    #[inline(always)]
    fn add(&self, squares: &mut Squares, x: f64) {
        let square = x * x;
        match SquareScale::for_squares(square) {
            _ if x == 0.0 => {}
            SquareScale::One => squares.add(square),
            _ => squares.add_again([x].into_iter(), 0.0, square),
        }
    }

    fn merge(&self, squares: &mut Squares, other: &Squares) {
        squares.merge(other);
    }

    #[inline(always)]
    fn finish(&self, squares: &Squares, _: f64) -> f64 {
        squares.root(1.0)
    }

    #[inline(always)]
    fn row(&self, squares: &mut Squares, xs: &[f64]) {
        let sum = sum_of_squares(xs);
        match SquareScale::for_squares(sum) {
            SquareScale::One => squares.add(sum),
            _ => squares.add_again(xs.iter().copied(), 0.0, sum),
        }
    }

    #[inline(always)]
    fn columns(&self, states: &mut [Squares], tile: RowTile<'_, f64>) {
        let mut totals = [0.0; COLS];
        let totals = &mut totals[..states.len()];
        for r in 0..tile.rows() {
            for (total, &x) in totals.iter_mut().zip(tile.row(r)) {
                *total += x * x;
            }
        }
        for (i, (state, &total)) in states.iter_mut().zip(&*totals).enumerate() {
            match SquareScale::for_squares(total) {
                SquareScale::One => state.add(total),
                _ => state.add_again((0..tile.rows()).map(|r| tile.row(r)[i]), 0.0, total),
            }
        }
    }

    #[inline(always)]
    fn whole(&self, group: Group<'_, f64>, _: f64) -> [f64; WIDE] {
        let mut totals = [0.0; WIDE];
        for xs in group.rows() {
            for i in 0..WIDE {
                totals[i] += xs[i] * xs[i];
            }
        }
        let mut roots = totals.map(f64::sqrt);
        for i in 0..WIDE {
            if SquareScale::for_squares(totals[i]) != SquareScale::One {
                let mut squares = Squares::ZERO;
                let column = (0..group.count()).map(|r| group.row(r)[i]);
                squares.add_again(column, 0.0, totals[i]);
                roots[i] = squares.root(1.0);
            }
        }
        roots
    }
}

/// The root of the sum of powers, for any other degree.
struct Power(f64);

/// A sum of powers of magnitudes, each multiplied by a power of two before.
#[derive(Clone, Copy)]
struct Powers {
    sum: f64,
    scale: f64,
}

impl Power {
    #[inline(always)]
    fn sum(&self, xs: impl Iterator<Item = f64>, scale: f64) -> f64 {
        xs.fold(0.0, |sum, x| sum + (x.abs() * scale).powf(self.0))
    }

    /// Sums the powers of a block. If the sum leaves the range, all magnitudes are scaled by the one that
    /// dominates.
    #[inline(always)]
    fn block(&self, xs: impl Iterator<Item = f64> + Clone) -> Powers {
        let sum = self.sum(xs.clone(), 1.0);
        if SquareScale::for_squares(sum) == SquareScale::One {
            return Powers { sum, scale: 1.0 };
        }
        self.block_again(xs)
    }

    #[cold]
    #[inline(never)]
    fn block_again(&self, xs: impl Iterator<Item = f64> + Clone) -> Powers {
        let magnitudes = xs.clone().map(f64::abs);
        let most = if self.0 > 0.0 {
            magnitudes.fold(0.0, greater)
        } else {
            magnitudes.fold(f64::INFINITY, smaller)
        };
        let scale = inverse_exponent(most);
        let sum = self.sum(xs, scale);
        Powers { sum, scale }
    }
}

impl Accumulator for Power {
    type X = f64;
    type State = Powers;
    type Out = f64;

    #[inline(always)]
    fn empty(&self) -> Powers {
        Powers {
            sum: 0.0,
            scale: 1.0,
        }
    }

    #[inline(always)]
    fn add(&self, powers: &mut Powers, x: f64) {
        if x == 0.0 && self.0 > 0.0 {
            return;
        }
        let one = self.block([x].into_iter());
        Accumulator::merge(self, powers, &one);
    }

    fn merge(&self, powers: &mut Powers, other: &Powers) {
        if powers.scale == other.scale {
            let sum = powers.sum + other.sum;
            if sum.is_finite() || !(powers.sum.is_finite() && other.sum.is_finite()) {
                powers.sum = sum;
                return;
            }
        }
        if other.sum == 0.0 || powers.sum == 0.0 {
            if powers.sum == 0.0 {
                *powers = *other;
            }
            return;
        }
        // The scale of the dominating sum: the smaller scale for positive degrees, the larger one for negative
        // degrees.
        let scale = if self.0 > 0.0 {
            powers.scale.min(other.scale)
        } else {
            powers.scale.max(other.scale)
        };
        let together = |scale: f64| {
            let with = |powers: &Powers| powers.sum * (scale / powers.scale).powf(self.0);
            let sum = with(powers) + with(other);
            Powers { sum, scale }
        };
        let found = together(scale);
        *powers = if found.sum.is_finite() {
            found
        } else {
            // Leaves room for the sum of both.
            together(if self.0 > 0.0 {
                scale / 4.0
            } else {
                scale * 4.0
            })
        };
    }

    #[inline(always)]
    fn finish(&self, powers: &Powers, _: f64) -> f64 {
        powers.sum.powf(1.0 / self.0) / powers.scale
    }

    #[inline(always)]
    fn row(&self, powers: &mut Powers, xs: &[f64]) {
        for part in xs.chunks(COLS) {
            let block = self.block(part.iter().copied());
            Accumulator::merge(self, powers, &block);
        }
    }
}
