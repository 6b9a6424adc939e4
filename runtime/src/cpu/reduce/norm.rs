//! Norms. Elements come as f64, so that no square of an f32 overflows and rounding does not grow.

use super::accumulator::{Accumulator, Tile};
use super::reducer::{COLS, Reducer};

const LANES: usize = 16;

/// What a norm does to a magnitude before it combines them.
trait Degree: Sync + 'static {
    /// The norm of nothing.
    const START: f64;
    /// Of one element.
    fn term(&self, x: f64) -> f64;
    /// Of two results.
    fn combine(a: f64, b: f64) -> f64;
    /// The norm.
    fn finish(&self, total: f64) -> f64;
}

/// The greatest of two; NaN when either is.
#[inline(always)]
fn greater(a: f64, b: f64) -> f64 {
    if a > b || a.is_nan() { a } else { b }
}

/// The smaller of two; NaN when either is.
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
    /// The number of elements that differ from zero.
    Zero, 0.0, |x| if x == 0.0 { 0.0 } else { 1.0 }, |a, b| a + b, |total| total;
    /// The sum of magnitudes.
    One, 0.0, f64::abs, |a, b| a + b, |total| total;
    /// The root of the sum of squares.
    Two, 0.0, |x| x * x, |a, b| a + b, f64::sqrt;
    /// The greatest magnitude.
    Greatest, 0.0, f64::abs, greater, |total| total;
    /// The smallest magnitude.
    Smallest, f64::INFINITY, f64::abs, smaller, |total| total;
}

/// Of any other degree.
struct Power(f64);

impl Degree for Power {
    const START: f64 = 0.0;
    #[inline(always)]
    fn term(&self, x: f64) -> f64 {
        x.abs().powf(self.0)
    }
    #[inline(always)]
    fn combine(a: f64, b: f64) -> f64 {
        a + b
    }
    #[inline]
    fn finish(&self, total: f64) -> f64 {
        total.powf(1.0 / self.0)
    }
}

/// The reducer of degree `p`.
pub(super) fn reducer(p: f64) -> Box<dyn Reducer> {
    match p {
        0.0 => Box::new(Norm(Zero)),
        1.0 => Box::new(Norm(One)),
        2.0 => Box::new(Norm(Two)),
        f64::INFINITY => Box::new(Norm(Greatest)),
        f64::NEG_INFINITY => Box::new(Norm(Smallest)),
        p => Box::new(Norm(Power(p))),
    }
}

struct Norm<D>(D);

impl<D: Degree> Accumulator for Norm<D> {
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
    fn columns(&self, states: &mut [f64], tile: Tile<'_, f64>) {
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
