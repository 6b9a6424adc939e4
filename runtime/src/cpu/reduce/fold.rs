//! Reductions whose elements can be combined in any grouping: sum, prod, max, min, any, all.

use std::marker::PhantomData;
use std::mem::MaybeUninit;

use nomina_core::Element;
use num_complex::Complex;

use super::accumulator::RowTile;
use super::compensated::Compensated;
use super::simd::Kernel;
use super::whole::{Group, LANES as WIDE, Lanes};
use crate::cpu::simd::Level;

/// The number of accumulators of a row, for every instruction set.
const LANES: usize = 64;
/// The number of elements of a lane that are combined pairwise, as a binary tree.
const GROUP: usize = 16;
/// The number of lanes that are contiguous in memory; few, so that a group is read almost sequentially.
const PART: usize = 8;

/// The combination of elements, and the accumulator of the results of many blocks.
pub(crate) trait Fold: Sync + 'static {
    /// The element type in memory.
    type X: Element;
    /// The element type in which elements are combined.
    type T: Element;
    /// The accumulator of blocks.
    type Acc: Copy;
    /// Converts an element to the type in which it is combined.
    fn widen(x: Self::X) -> Self::T;
    /// The neutral element of `combine`.
    const IDENTITY: Self::T;
    /// Whether each combination rounds, so that long chains of them should be avoided.
    const ROUNDS: bool = false;
    /// Combines two elements within a block.
    fn combine(a: Self::T, b: Self::T) -> Self::T;
    /// Returns the empty accumulator.
    fn start() -> Self::Acc;
    /// Adds the result of a block, or an element.
    fn add(acc: &mut Self::Acc, part: Self::T);
    /// Returns whether a block overflowed its elements' range; its elements are then added one by one.
    #[inline(always)]
    fn overflows(_part: Self::T) -> bool {
        false
    }
    /// Merges another accumulator.
    fn merge(acc: &mut Self::Acc, other: &Self::Acc);
    /// Returns the result, divided by `divisor` if that is not 1.
    fn finish(acc: &Self::Acc, divisor: f64) -> Self::T;
    /// Returns whether further elements cannot change the accumulator.
    fn done(_acc: &Self::Acc) -> bool {
        false
    }
}

/// Combines four elements as two pairs.
#[inline(always)]
pub(super) fn four<F: Fold>(xs: [F::X; 4]) -> F::T {
    let [a, b, c, d] = xs;
    let ab = F::combine(F::widen(a), F::widen(b));
    F::combine(ab, F::combine(F::widen(c), F::widen(d)))
}

/// Adds the elements of a block one by one.
#[cold]
#[inline(never)]
pub(super) fn one_by_one<'a, F: Fold>(acc: &mut F::Acc, xs: impl Iterator<Item = &'a F::X>) {
    xs.for_each(|&x| F::add(acc, F::widen(x)));
}

/// A kernel that combines all elements of a row in lanes.
pub(crate) struct RowFold<'a, F: Fold>(pub &'a [F::X], pub PhantomData<F>);

impl<F: Fold> Kernel for RowFold<'_, F> {
    type Out = F::T;
    // Groups are read across rows. With AVX-512 the compiler would use gathers, which on Zen 4 run at a ninth
    // of the speed.
    const WIDEST: Level = if F::ROUNDS {
        Level::Avx2
    } else {
        Level::Avx512
    };
    #[inline(always)]
    fn run(self) -> F::T {
        let mut lanes = [F::IDENTITY; LANES];
        let mut xs = self.0;
        if F::ROUNDS {
            let (groups, left) = xs.as_chunks::<{ GROUP * LANES }>();
            for group in groups {
                // One or two cache lines at a time, so that memory is read sequentially.
                let (parts, _) = group.as_chunks::<{ GROUP * PART }>();
                for (part, lanes) in parts.iter().zip(lanes.as_chunks_mut::<PART>().0) {
                    let (x, _) = part.as_chunks::<PART>();
                    for i in 0..PART {
                        // Written out: closures are compiled for the smallest instruction set.
                        let [a, b, c, d] = [
                            four::<F>([x[0][i], x[1][i], x[2][i], x[3][i]]),
                            four::<F>([x[4][i], x[5][i], x[6][i], x[7][i]]),
                            four::<F>([x[8][i], x[9][i], x[10][i], x[11][i]]),
                            four::<F>([x[12][i], x[13][i], x[14][i], x[15][i]]),
                        ];
                        let all = F::combine(F::combine(a, b), F::combine(c, d));
                        lanes[i] = F::combine(lanes[i], all);
                    }
                }
            }
            xs = left;
        }
        let (chunks, rest) = xs.as_chunks::<LANES>();
        for chunk in chunks {
            for (lane, &x) in lanes.iter_mut().zip(chunk) {
                *lane = F::combine(*lane, F::widen(x));
            }
        }
        for (lane, &x) in lanes.iter_mut().zip(rest) {
            *lane = F::combine(*lane, F::widen(x));
        }
        let mut width = LANES / 2;
        while width > 0 {
            for i in 0..width {
                lanes[i] = F::combine(lanes[i], lanes[i + width]);
            }
            width /= 2;
        }
        lanes[0]
    }
}

/// A kernel that combines each column of a tile over the rows into `out`.
pub(crate) struct Cols<'a, F: Fold> {
    pub out: &'a mut [F::T],
    pub tile: RowTile<'a, F::X>,
}

impl<F: Fold> Kernel for Cols<'_, F> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        let n = self.out.len();
        let (rows, row) = (self.tile.rows(), |r: usize| &self.tile.row(r)[..n]);
        let mut r = 0;
        while r + 4 <= rows {
            let (a, b, c, d) = (row(r), row(r + 1), row(r + 2), row(r + 3));
            for i in 0..n {
                self.out[i] = F::combine(self.out[i], four::<F>([a[i], b[i], c[i], d[i]]));
            }
            r += 4;
        }
        while r < rows {
            for (out, &x) in self.out.iter_mut().zip(row(r)) {
                *out = F::combine(*out, F::widen(x));
            }
            r += 1;
        }
    }
}

/// Folds each output of a group, in the same order as tiles of columns.
#[inline(always)]
pub(crate) fn fold<F: Fold>(group: Group<'_, F::X>) -> [F::T; WIDE] {
    let mut all = [F::IDENTITY; WIDE];
    let whole = group.count() / 4 * 4;
    for r in (0..whole).step_by(4) {
        let [a, b, c, d] = group.four(r);
        for i in 0..WIDE {
            all[i] = F::combine(all[i], four::<F>([a[i], b[i], c[i], d[i]]));
        }
    }
    for r in whole..group.count() {
        let xs = group.row(r);
        for i in 0..WIDE {
            all[i] = F::combine(all[i], F::widen(xs[i]));
        }
    }
    all
}

/// A kernel that computes the folds of all groups, divided by the count if they are means.
pub(super) struct WholeFold<'a, F: Fold, const MEAN: bool> {
    pub lanes: &'a Lanes<'a>,
    pub count: f64,
    pub values: *mut F::T,
    pub fold: PhantomData<F>,
}

impl<F: Fold, const MEAN: bool> Kernel for WholeFold<'_, F, MEAN> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        let divisor = if MEAN { self.count } else { 1.0 };
        for group in 0..self.lanes.groups {
            // SAFETY: the creator of this struct guarantees that the lanes are readable and that
            // there is room for the values.
            let (lanes, values) = unsafe {
                let lanes: Group<'_, F::X> = self.lanes.group(group);
                (lanes, self.lanes.results(self.values, group))
            };
            let all = fold::<F>(lanes);
            for i in 0..WIDE {
                let mut state = F::start();
                F::add(&mut state, all[i]);
                values[i].write(F::finish(&state, divisor));
            }
            // A loop of its own: with a branch in the loop above, it would not be vectorized.
            let mut overflowed = false;
            for part in all {
                overflowed |= F::overflows(part);
            }
            if overflowed {
                // A copy: a reference to the parts themselves would keep them in memory, not in registers.
                let parts = all;
                recompute_overflowed::<F>(lanes, &parts, divisor, values);
            }
        }
    }
}

/// Computes the overflowed folds again, element by element.
#[cold]
#[inline(never)]
fn recompute_overflowed<F: Fold>(
    lanes: Group<'_, F::X>,
    all: &[F::T; WIDE],
    divisor: f64,
    values: &mut [MaybeUninit<F::T>; WIDE],
) {
    for i in (0..WIDE).filter(|&i| F::overflows(all[i])) {
        let mut state = F::start();
        one_by_one::<F>(&mut state, lanes.rows().map(|row| &row[i]));
        values[i].write(F::finish(&state, divisor));
    }
}

/// Addition.
pub(crate) struct Sum<T>(PhantomData<T>);
/// Multiplication.
pub(crate) struct Prod<T>(PhantomData<T>);
/// The maximum; NaN wins.
pub(crate) struct Max<T>(PhantomData<T>);
/// The minimum; NaN wins.
pub(crate) struct Min<T>(PhantomData<T>);
/// The maximum of the elements that are not NaN; NaN if there is none.
pub(crate) struct PresentMax<T>(PhantomData<T>);
/// The minimum of the elements that are not NaN; NaN if there is none.
pub(crate) struct PresentMin<T>(PhantomData<T>);
/// Whether any element is true.
pub(crate) struct Any;
/// Whether all elements are true.
pub(crate) struct All;

macro_rules! sum {
    ($($t:ty, $zero:expr, $acc:ty, $start:expr, $finite:expr, $add:expr, $merge:expr, $finish:expr;)*) => {$(
        impl Fold for Sum<$t> {
            type X = $t;
            type T = $t;
            type Acc = $acc;
            const IDENTITY: $t = $zero;
            const ROUNDS: bool = true;
            #[inline(always)]
            fn widen(x: $t) -> $t {
                x
            }
            #[inline(always)]
            fn combine(a: $t, b: $t) -> $t {
                a + b
            }
            #[inline]
            fn start() -> $acc {
                $start
            }
            #[inline]
            fn add(acc: &mut $acc, part: $t) {
                let add: fn(&mut $acc, $t) = $add;
                add(acc, part);
            }
            #[inline(always)]
            fn overflows(part: $t) -> bool {
                let is_finite: fn($t) -> bool = $finite;
                !is_finite(part)
            }
            #[inline]
            fn merge(acc: &mut $acc, other: &$acc) {
                let merge: fn(&mut $acc, &$acc) = $merge;
                merge(acc, other);
            }
            #[inline]
            fn finish(acc: &$acc, divisor: f64) -> $t {
                let finish: fn(&$acc, f64) -> $t = $finish;
                finish(acc, divisor)
            }
        }
    )*};
}

const C32: Complex<f32> = Complex { re: 0.0, im: 0.0 };
const C64: Complex<f64> = Complex { re: 0.0, im: 0.0 };

sum! {
    f32, 0.0, f64, 0.0, f32::is_finite, |acc, x| *acc += f64::from(x), |acc, x| *acc += x, |acc, d| (acc / d) as f32;
    f64, 0.0, Compensated, Compensated::ZERO, f64::is_finite, Compensated::add, Compensated::merge,
        |acc, d| acc.quotient(d);
    Complex<f32>, C32, Complex<f64>, C64, Complex::is_finite,
        |acc, x| *acc += Complex::new(f64::from(x.re), f64::from(x.im)), |acc, x| *acc += x,
        |acc, d| { let z = acc / d; Complex::new(z.re as f32, z.im as f32) };
    Complex<f64>, C64, [Compensated; 2], [Compensated::ZERO; 2], Complex::is_finite,
        |acc, x| { acc[0].add(x.re); acc[1].add(x.im) },
        |acc, x| { acc[0].merge(&x[0]); acc[1].merge(&x[1]) },
        |acc, d| Complex::new(acc[0].quotient(d), acc[1].quotient(d));
}

impl Fold for Sum<i64> {
    type X = i64;
    type T = i64;
    type Acc = i64;
    const IDENTITY: i64 = 0;
    #[inline(always)]
    fn widen(x: i64) -> i64 {
        x
    }
    #[inline(always)]
    fn combine(a: i64, b: i64) -> i64 {
        a.wrapping_add(b)
    }
    #[inline]
    fn start() -> i64 {
        0
    }
    #[inline]
    fn add(acc: &mut i64, part: i64) {
        *acc = acc.wrapping_add(part);
    }
    #[inline]
    fn merge(acc: &mut i64, other: &i64) {
        Self::add(acc, *other);
    }
    #[inline]
    fn finish(acc: &i64, _: f64) -> i64 {
        *acc
    }
}

/// Defines folds whose accumulator is an element.
macro_rules! plain {
    ($($name:ident<$t:ty>, $identity:expr, $combine:expr;)*) => {$(
        impl Fold for $name<$t> {
            type X = $t;
            type T = $t;
            type Acc = $t;
            const IDENTITY: $t = $identity;
            #[inline(always)]
            fn widen(x: $t) -> $t {
                x
            }
            #[inline(always)]
            fn combine(a: $t, b: $t) -> $t {
                let combine: fn($t, $t) -> $t = $combine;
                combine(a, b)
            }
            #[inline]
            fn start() -> $t {
                $identity
            }
            #[inline]
            fn add(acc: &mut $t, part: $t) {
                *acc = Self::combine(*acc, part);
            }
            fn merge(acc: &mut $t, other: &$t) {
                *acc = Self::combine(*acc, *other);
            }
            #[inline]
            fn finish(acc: &$t, _: f64) -> $t {
                *acc
            }
        }
    )*};
}

plain! {
    Prod<f32>, 1.0, |a, b| a * b;
    Prod<f64>, 1.0, |a, b| a * b;
    Prod<i64>, 1, |a, b| a.wrapping_mul(b);
    Prod<Complex<f32>>, Complex { re: 1.0, im: 0.0 }, |a, b| a * b;
    Prod<Complex<f64>>, Complex { re: 1.0, im: 0.0 }, |a, b| a * b;
}

macro_rules! extrema {
    ($($t:ident $low:expr, $high:expr, $nan:expr;)*) => {plain! {$(
        Max<$t>, $low, |a, b| { let nan: fn($t) -> bool = $nan; if a > b || nan(a) { a } else { b } };
        Min<$t>, $high, |a, b| { let nan: fn($t) -> bool = $nan; if a < b || nan(a) { a } else { b } };
    )*}};
}

extrema! {
    bool false, true, |_| false;
    u8 u8::MIN, u8::MAX, |_| false;
    i8 i8::MIN, i8::MAX, |_| false;
    i16 i16::MIN, i16::MAX, |_| false;
    i32 i32::MIN, i32::MAX, |_| false;
    i64 i64::MIN, i64::MAX, |_| false;
    f32 f32::NEG_INFINITY, f32::INFINITY, |x| x.is_nan();
    f64 f64::NEG_INFINITY, f64::INFINITY, |x| x.is_nan();
}

macro_rules! present_extrema {
    ($($t:ident)*) => {plain! {$(
        // A comparison with NaN is false, so that `a` stays; a NaN in `a` is replaced by any `b`.
        PresentMax<$t>, $t::NAN, |a, b| if b > a || a.is_nan() { b } else { a };
        PresentMin<$t>, $t::NAN, |a, b| if b < a || a.is_nan() { b } else { a };
    )*}};
}

present_extrema! { f32 f64 }

macro_rules! truth {
    ($($name:ident $identity:literal $op:tt;)*) => {$(
        impl Fold for $name {
            type X = bool;
            type T = bool;
            type Acc = bool;
            const IDENTITY: bool = $identity;
            #[inline(always)]
            fn widen(x: bool) -> bool {
                x
            }
            #[inline(always)]
            fn combine(a: bool, b: bool) -> bool {
                a $op b
            }
            #[inline]
            fn start() -> bool {
                $identity
            }
            #[inline]
            fn add(acc: &mut bool, part: bool) {
                *acc = Self::combine(*acc, part);
            }
            fn merge(acc: &mut bool, other: &bool) {
                *acc = Self::combine(*acc, *other);
            }
            #[inline]
            fn finish(acc: &bool, _: f64) -> bool {
                *acc
            }
            fn done(acc: &bool) -> bool {
                *acc != $identity
            }
        }
    )*};
}

truth! {
    Any false |;
    All true &;
}
