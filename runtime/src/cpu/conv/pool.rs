//! Pooling: first the rows under a window are combined elementwise, then the window's columns. Both go by whole vectors:
//! a combined row has neutral elements for the padding, so that all positions have the same taps.

use std::marker::PhantomData;
use std::ops::{Deref, Range};

use half::{bf16, f16};
use nomina_core::DType;

use super::number::Widen;
use crate::job::{Cover, PoolJob, PoolKind, WindowSpan};

use crate::cpu::parallel::{GRAIN, Missing, split};
use crate::cpu::reduce::simd::{Kernel, dispatch};
use crate::cpu::simd::Level;
use crate::memory::scratch::collect;
use crate::memory::{NoMemory, Scratch};
use crate::shape::product;

/// The elements of a vector.
const LANES: usize = 16;
/// The largest size of a padded row as a multiple of the input's, in addition to `SHORT` elements.
const MOST: usize = 4;
const SHORT: usize = 1 << 10;

/// A pool, and the span of each position in each dim.
struct Pool<'a> {
    job: &'a PoolJob,
    spans: [Vec<WindowSpan>; 3],
    /// The padded row, if windows have one size along rows.
    line: Option<PaddedLine>,
}

/// A row of the input with its padding: position `i` covers the elements `i * stride + tap * dilation`.
#[derive(Clone, Copy)]
struct PaddedLine {
    before: usize,
    stride: usize,
    dilation: usize,
    kernel: usize,
    /// The number of elements, including those that vectors read beyond the last window.
    length: usize,
}

impl PaddedLine {
    /// Returns the row of a pool; `None` if parts of it are pooled, or padding would be most of it.
    fn new(job: &PoolJob) -> Option<Self> {
        let Cover::Slide(slide) = job.covers[2] else {
            return None;
        };
        let reach = product([slide.kernel.saturating_sub(1), slide.dilation]);
        let last = product([slide.out.max(LANES), slide.stride]);
        let length = last.saturating_add(reach).saturating_add(LANES);
        let most = product([slide.size, MOST]).saturating_add(SHORT);
        (length <= most && slide.before <= length).then_some(Self {
            before: slide.before,
            stride: slide.stride,
            dilation: slide.dilation,
            kernel: slide.kernel,
            length,
        })
    }
}

impl Deref for Pool<'_> {
    type Target = PoolJob;
    fn deref(&self) -> &PoolJob {
        self.job
    }
}

/// Runs a pool.
///
/// # Safety
/// All elements are in bounds; nobody else accesses the results meanwhile.
pub(crate) unsafe fn execute(job: &PoolJob) -> Result<(), NoMemory> {
    let spans = |dim: usize| {
        let cover = job.covers[dim];
        collect((0..cover.len()).map(move |at| cover.span(at)))
    };
    let job = &Pool {
        job,
        spans: [spans(0)?, spans(1)?, spans(2)?],
        line: PaddedLine::new(job),
    };
    macro_rules! with {
        ($($dtype:ident: $t:ty, $greatest:ty, $sum:ty;)*) => {
            match job.dtype {
                $(DType::$dtype => match (job.kind, job.indices) {
                    (PoolKind::Max, Some(indices)) => {
                        let at = MaxPositions::<$t, $greatest>(job, indices, PhantomData);
                        split_rows(job, &|range| at.rows(range));
                        Ok(())
                    }
                    (PoolKind::Max, None) => values::<$t, $greatest, MaxJoin>(job),
                    (PoolKind::Mean(_), _) => values::<$t, $sum, MeanJoin>(job),
                },)*
                // The operator table allows only the dtypes above.
                _ => Ok(()),
            }
        };
    }
    with! {
        U8: u8, u8, i64;
        I8: i8, i8, i64;
        I16: i16, i16, i64;
        I32: i32, i32, i64;
        I64: i64, i64, i64;
        F16: f16, f32, f64;
        BF16: bf16, f32, f64;
        F32: f32, f32, f64;
        F64: f64, f64, f64;
    }
}

/// A way to combine elements into one number.
trait Join<A> {
    /// The kernel's [`Kernel::WIDEST`].
    const WIDEST: Level = Level::Avx512;
    const START: A;
    /// The number that divides a result.
    type Divisor: Copy;
    fn join(a: A, b: A) -> A;
    /// Returns the divisor of a position at which `counts` positions were counted along each dim. Their product can exceed
    /// `usize`, because it includes padding.
    fn divisor(kind: PoolKind, counts: [usize; 3]) -> Self::Divisor;
    fn finish(value: A, divisor: Self::Divisor) -> A;
}

struct MaxJoin;
struct MeanJoin;

/// A number type with an order and a least number.
trait PoolOrdered: Copy + Send + Sync + 'static {
    const LEAST: Self;
    /// Returns whether `self` replaces `other`: it is greater, or NaN.
    fn beats(self, other: Self) -> bool;
}

macro_rules! ordered {
    ($($t:ty: $least:expr, $beats:expr;)*) => {$(
        impl PoolOrdered for $t {
            const LEAST: $t = $least;
            #[inline(always)]
            fn beats(self, other: $t) -> bool {
                let beats: fn($t, $t) -> bool = $beats;
                beats(self, other)
            }
        }
    )*};
}
ordered! {
    u8: u8::MIN, |a, b| a > b;
    i8: i8::MIN, |a, b| a > b;
    i16: i16::MIN, |a, b| a > b;
    i32: i32::MIN, |a, b| a > b;
    i64: i64::MIN, |a, b| a > b;
    f32: f32::NEG_INFINITY, |a, b| a > b || a.is_nan();
    f64: f64::NEG_INFINITY, |a, b| a > b || a.is_nan();
}

impl<A: PoolOrdered> Join<A> for MaxJoin {
    const START: A = A::LEAST;
    type Divisor = ();
    #[inline(always)]
    fn join(a: A, b: A) -> A {
        if b.beats(a) { b } else { a }
    }
    #[inline(always)]
    fn divisor(_: PoolKind, _: [usize; 3]) {}
    #[inline(always)]
    fn finish(value: A, (): ()) -> A {
        value
    }
}

macro_rules! mean {
    ($($t:ty: $widest:ident, $zero:expr, $one:expr, $plus:expr, $count:expr, $over:expr;)*) => {$(
        impl Join<$t> for MeanJoin {
            const WIDEST: Level = Level::$widest;
            const START: $t = $zero;
            type Divisor = $t;
            #[inline(always)]
            fn join(a: $t, b: $t) -> $t {
                let plus: fn($t, $t) -> $t = $plus;
                plus(a, b)
            }
            #[inline(always)]
            fn divisor(kind: PoolKind, counts: [usize; 3]) -> $t {
                let count: fn([usize; 3]) -> $t = $count;
                match kind {
                    PoolKind::Mean(Some(divisor)) => divisor as $t,
                    // A window entirely in the padding counts nothing, and its sum is zero.
                    _ if counts.contains(&0) => $one,
                    _ => count(counts),
                }
            }
            #[inline(always)]
            fn finish(value: $t, divisor: $t) -> $t {
                let over: fn($t, $t) -> $t = $over;
                over(value, divisor)
            }
        }
    )*};
}
mean! {
    i64: Baseline, 0, 1, i64::wrapping_add, whole_count, i64::wrapping_div;
    f64: Avx512, 0.0, 1.0, |a, b| a + b, float_count, |sum, by| sum / by;
}

/// Returns the product of the counts, at most [`i64::MAX`].
#[inline(always)]
fn whole_count(counts: [usize; 3]) -> i64 {
    i64::try_from(product(counts)).unwrap_or(i64::MAX)
}

/// Returns the product of the counts, exactly below 2^53.
#[inline(always)]
fn float_count([z, y, x]: [usize; 3]) -> f64 {
    z as f64 * y as f64 * x as f64
}

/// Divides the rows of the result among threads.
fn split_rows(job: &Pool<'_>, run: &(dyn Fn(Range<usize>) + Sync)) {
    let rows = product([job.planes, job.spans[0].len(), job.spans[1].len()]);
    // The work of a row is the number of rows under the window, which is about equal for all positions.
    let under = |spans: &[WindowSpan]| spans.first().map_or(1, |span| span.taps.max(1));
    let work = product([job.size[2], under(&job.spans[0]), under(&job.spans[1])]);
    let work = work.saturating_add(job.spans[2].len());
    split(rows, GRAIN / 4 / work.max(1), run);
}

fn values<S: Widen<A>, A: Copy + Send + Sync + 'static, J: Join<A>>(
    job: &Pool<'_>,
) -> Result<(), NoMemory> {
    let rows = |range| {
        let line = job.line.map_or(job.size[2], |line| line.length);
        let mut joined = Scratch::new([line], J::START)?;
        let none = J::divisor(job.kind, [0; 3]);
        let mut divisors = Scratch::new([job.spans[2].len()], none)?;
        dispatch(PoolRows::<S, A, J> {
            job,
            range,
            joined: &mut joined,
            divisors: &mut divisors,
            types: PhantomData,
        });
        Ok(())
    };
    let missing = Missing::new();
    split_rows(job, &|range| missing.attempt(|| rows(range)));
    missing.result()
}

/// Some rows of the result.
struct PoolRows<'a, S, A, J: Join<A>> {
    job: &'a Pool<'a>,
    range: Range<usize>,
    /// A buffer as wide as a row of the input, with its padding if the pool has a [`PaddedLine`].
    joined: &'a mut [A],
    /// The divisor of each position of a row.
    divisors: &'a mut [J::Divisor],
    types: PhantomData<(S, J)>,
}

/// Returns the plane and the spans of a row of the result.
#[inline(always)]
fn locate(job: &Pool<'_>, row: usize) -> (usize, WindowSpan, WindowSpan) {
    let (depth, height) = (job.spans[0].len(), job.spans[1].len());
    (
        row / (depth * height),
        job.spans[0][row / height % depth],
        job.spans[1][row % height],
    )
}

impl<S: Widen<A>, A: Copy, J: Join<A>> Kernel for PoolRows<'_, S, A, J> {
    type Out = ();
    const WIDEST: Level = J::WIDEST;

    #[inline(always)]
    fn run(mut self) {
        let job = self.job;
        let mut counted = None;
        for row in self.range.clone() {
            let (plane, z, y) = locate(job, row);
            let is_empty = z.taps == 0 || y.taps == 0;
            if counted != Some((z.count, y.count, is_empty)) {
                counted = Some((z.count, y.count, is_empty));
                for (divisor, x) in self.divisors.iter_mut().zip(&job.spans[2]) {
                    let counts = if is_empty || x.taps == 0 {
                        [0; 3]
                    } else {
                        [z.count, y.count, x.count]
                    };
                    *divisor = J::divisor(job.kind, counts);
                }
            }
            self.join_rows(plane, z, y);
            let out = job.out.cast::<S>().wrapping_add(row * self.divisors.len());
            // SAFETY: this task owns the row.
            unsafe {
                match job.line {
                    Some(line) if line.stride == 1 => self.columns::<1, 16>(line, out),
                    Some(line) if line.stride == 2 => self.columns::<2, 32>(line, out),
                    Some(line) => self.columns::<0, 0>(line, out),
                    None => self.parts(out),
                }
            }
        }
    }
}

impl<S: Widen<A>, A: Copy, J: Join<A>> PoolRows<'_, S, A, J> {
    /// Combines the rows of the input under a row of the result.
    #[inline(always)]
    fn join_rows(&mut self, plane: usize, z: WindowSpan, y: WindowSpan) {
        let job = self.job;
        let [depth, height, width] = job.size;
        let step = job.covers.map(|cover| cover.step());
        let before = job.line.map_or(0, |line| line.before);
        let to = &mut self.joined[before..];
        // Elements beyond the last window are not read.
        let count = width.min(to.len());
        let to = to.as_mut_ptr();
        let first = (plane * depth + z.start) * height + y.start;
        let first = job.x.cast::<S>().wrapping_add(first * width);
        let apart = [step[0] * height * width, step[1] * width];
        let whole = count >= LANES;
        let mut done = 0;
        while done < count {
            // The last vector overlaps the one before.
            let at = done.min(count.saturating_sub(LANES));
            let mut all = [J::START; LANES];
            for kz in 0..z.taps {
                for ky in 0..y.taps {
                    let from = first.wrapping_add(kz * apart[0] + ky * apart[1] + at);
                    if whole {
                        // SAFETY: spans are within the planes, and a vector is left of the row.
                        let from = unsafe { from.cast::<[S; LANES]>().read_unaligned() };
                        for (all, from) in all.iter_mut().zip(from) {
                            *all = J::join(*all, from.up());
                        }
                    } else {
                        for (i, all) in all.iter_mut().enumerate().take(count - at) {
                            // SAFETY: as above.
                            *all = J::join(*all, unsafe { from.add(i).read() }.up());
                        }
                    }
                }
            }
            // SAFETY: the buffer has `count` elements from `before` on.
            unsafe {
                let to = to.add(at);
                if whole {
                    to.cast::<[A; LANES]>().write_unaligned(all);
                } else {
                    to.copy_from_nonoverlapping(all.as_ptr(), count - at);
                }
            }
            done = at + LANES;
        }
    }

    /// Combines columns of a padded row. `SPAN` is the number of elements that a vector of positions reads for a tap,
    /// `STRIDE` times its lanes; both are 0 for a stride that is not constant.
    ///
    /// # Safety
    /// There is room for a row of the result.
    #[inline(always)]
    unsafe fn columns<const STRIDE: usize, const SPAN: usize>(
        &self,
        line: PaddedLine,
        out: *mut S,
    ) {
        let count = self.divisors.len();
        let joined = self.joined.as_ptr();
        let mut from = 0;
        while from < count {
            // The last vector overlaps the one before.
            let at = from.min(count.saturating_sub(LANES));
            let first = joined.wrapping_add(at * line.stride);
            let mut all = [J::START; LANES];
            for kx in 0..line.kernel {
                let first = first.wrapping_add(kx * line.dilation);
                // SAFETY: the buffer has `LANES` more elements than the last position's window, and those of `LANES`
                // positions.
                unsafe {
                    if STRIDE == 0 {
                        for (i, all) in all.iter_mut().enumerate() {
                            *all = J::join(*all, first.add(i * line.stride).read());
                        }
                    } else {
                        let seen = first.cast::<[A; SPAN]>().read_unaligned();
                        for (i, all) in all.iter_mut().enumerate() {
                            *all = J::join(*all, seen[i * STRIDE]);
                        }
                    }
                }
            }
            let divisors = &self.divisors[at..count.min(at + LANES)];
            // SAFETY: guaranteed by the caller.
            unsafe {
                if let Some(divisors) = divisors.first_chunk::<LANES>() {
                    let values: [S; LANES] =
                        std::array::from_fn(|i| S::down(J::finish(all[i], divisors[i])));
                    out.add(at).cast::<[S; LANES]>().write_unaligned(values);
                } else {
                    for (i, (&value, &divisor)) in all.iter().zip(divisors).enumerate() {
                        out.add(at + i).write(S::down(J::finish(value, divisor)));
                    }
                }
            }
            from = at + LANES;
        }
    }

    /// Combines columns of parts of a row.
    ///
    /// # Safety
    /// There is room for a row of the result.
    #[inline(always)]
    unsafe fn parts(&self, out: *mut S) {
        let step = self.job.covers[2].step();
        for (i, (x, &divisor)) in self.job.spans[2].iter().zip(&*self.divisors).enumerate() {
            let joined = (0..x.taps).map(|kx| self.joined[x.start + kx * step]);
            let value = joined.fold(J::START, J::join);
            // SAFETY: guaranteed by the caller.
            unsafe { out.add(i).write(S::down(J::finish(value, divisor))) };
        }
    }
}

/// A pool that finds the greatest elements and their positions.
struct MaxPositions<'a, S, A>(&'a Pool<'a>, *mut i64, PhantomData<(S, A)>);

// SAFETY: only addresses and numbers; each task writes to its own rows.
unsafe impl<S, A> Sync for MaxPositions<'_, S, A> {}

impl<S: Widen<A>, A: PoolOrdered> MaxPositions<'_, S, A> {
    fn rows(&self, range: Range<usize>) {
        let Self(job, indices, _) = *self;
        let [depth, height, width] = job.size;
        let step = job.covers.map(|cover| cover.step());
        let spans = &job.spans[2];
        for row in range {
            let (plane, z, y) = locate(job, row);
            let first = job
                .x
                .cast::<S>()
                .wrapping_add(plane * depth * height * width);
            for (i, x) in spans.iter().enumerate() {
                let start = (z.start * height + y.start) * width + x.start;
                let (mut best, mut place) = (A::LEAST, start);
                for kz in 0..z.taps {
                    for ky in 0..y.taps {
                        for kx in 0..x.taps {
                            let at = start
                                + (kz * step[0] * height + ky * step[1]) * width
                                + kx * step[2];
                            // SAFETY: spans are within the planes.
                            let value = unsafe { first.add(at).read() }.up();
                            if value.beats(best) {
                                (best, place) = (value, at);
                            }
                        }
                    }
                }
                let at = row * spans.len() + i;
                // SAFETY: this task owns the row, in both results.
                unsafe {
                    job.out.cast::<S>().add(at).write(S::down(best));
                    indices.add(at).write(place as i64);
                }
            }
        }
    }
}
