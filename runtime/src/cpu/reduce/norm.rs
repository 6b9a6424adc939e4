//! Norms. Elements come as f64, so that no square of an f32 overflows and rounding does not grow.

use nomina_core::DType;

use super::reducer::{COLS, Reducer, many, many_mut};
use super::simd::{Kernel, dispatch};
use super::whole::{LANES as WIDE, Lanes};

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

struct Row<'a, D>(&'a [f64], &'a D);

impl<D: Degree> Kernel for Row<'_, D> {
    type Out = f64;
    #[inline(always)]
    fn run(self) -> f64 {
        let mut lanes = [D::START; LANES];
        let mut chunks = self.0.chunks_exact(LANES);
        for chunk in &mut chunks {
            for i in 0..LANES {
                lanes[i] = D::combine(lanes[i], self.1.term(chunk[i]));
            }
        }
        for (lane, &x) in lanes.iter_mut().zip(chunks.remainder()) {
            *lane = D::combine(*lane, self.1.term(x));
        }
        lanes.into_iter().fold(D::START, D::combine)
    }
}

struct Tile<'a, D> {
    totals: &'a mut [f64],
    xs: *const f64,
    stride: isize,
    rows: usize,
    degree: &'a D,
}

impl<D: Degree> Kernel for Tile<'_, D> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        for r in 0..self.rows {
            let row = self.xs.wrapping_offset(r as isize * self.stride);
            // SAFETY: whoever made the tile says that every row has as many elements as totals.
            let row = unsafe { many::<f64>(row.cast(), self.totals.len()) };
            for (total, &x) in self.totals.iter_mut().zip(row) {
                *total = D::combine(*total, self.degree.term(x));
            }
        }
    }
}

/// Outputs whose elements are all there.
struct Whole<'a, D> {
    lanes: &'a Lanes<'a>,
    values: *mut f64,
    degree: &'a D,
}

impl<D: Degree> Kernel for Whole<'_, D> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        for group in 0..self.lanes.groups {
            let mut totals = [D::START; WIDE];
            for &row in self.lanes.rows {
                // SAFETY: whoever made this says that the lanes are there.
                let xs = unsafe { self.lanes.row::<f64>(group, row) };
                for i in 0..WIDE {
                    totals[i] = D::combine(totals[i], self.degree.term(xs[i]));
                }
            }
            // SAFETY: whoever made this says that there is room.
            let values = unsafe { self.lanes.results(self.values, group) };
            for i in 0..WIDE {
                values[i].write(self.degree.finish(D::combine(D::START, totals[i])));
            }
        }
    }
}

impl<D: Degree> Reducer for Norm<D> {
    fn load(&self) -> DType {
        DType::F64
    }

    fn out(&self) -> DType {
        DType::F64
    }

    fn state_size(&self) -> usize {
        size_of::<f64>()
    }

    unsafe fn init(&self, states: *mut u8, n: usize) {
        for i in 0..n {
            // SAFETY: there is room for `n` states.
            unsafe { states.cast::<f64>().add(i).write(D::START) };
        }
    }

    unsafe fn row(&self, state: *mut u8, xs: *const u8, n: usize, _: usize) {
        // SAFETY: one state and `n` elements, by the contract.
        let (state, xs) = unsafe { (&mut *state.cast::<f64>(), many::<f64>(xs, n)) };
        *state = D::combine(*state, dispatch(Row(xs, &self.0)));
    }

    unsafe fn cols(
        &self,
        states: *mut u8,
        xs: *const u8,
        stride: isize,
        rows: usize,
        cols: usize,
        _: usize,
    ) {
        let mut totals = [D::START; COLS];
        let totals = &mut totals[..cols];
        dispatch(Tile {
            totals,
            xs: xs.cast(),
            stride,
            rows,
            degree: &self.0,
        });
        // SAFETY: `cols` states, by the contract.
        let states = unsafe { many_mut::<f64>(states, cols) };
        for (state, &total) in states.iter_mut().zip(&*totals) {
            *state = D::combine(*state, total);
        }
    }

    unsafe fn merge(&self, into: *mut u8, from: *const u8, n: usize) {
        // SAFETY: `n` states each, by the contract.
        let (into, from) = unsafe { (many_mut::<f64>(into, n), many::<f64>(from, n)) };
        for (into, &from) in into.iter_mut().zip(from) {
            *into = D::combine(*into, from);
        }
    }

    unsafe fn finish(&self, states: *const u8, n: usize, _: f64, values: *mut u8, _: *mut i64) {
        // SAFETY: `n` states, by the contract.
        let states = unsafe { many::<f64>(states, n) };
        for (i, &state) in states.iter().enumerate() {
            // SAFETY: room for `n` values, by the contract.
            unsafe { values.cast::<f64>().add(i).write(self.0.finish(state)) };
        }
    }
    unsafe fn whole(&self, lanes: &Lanes<'_>, _: f64, values: *mut u8, _: *mut i64) {
        dispatch(Whole {
            lanes,
            values: values.cast(),
            degree: &self.0,
        });
    }
}
