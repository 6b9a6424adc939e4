//! Pooling: first the rows under a window are combined elementwise, then the window's columns.

use std::marker::PhantomData;
use std::ops::{Deref, Range};

use half::{bf16, f16};
use nomina_core::DType;

use super::number::Widen;
use crate::job::{PoolJob, PoolKind, WindowSpan};

use crate::cpu::parallel::{GRAIN, Missing, split};
use crate::cpu::reduce::simd::{Kernel, dispatch};
use crate::memory::scratch::collect;
use crate::memory::{NoMemory, Scratch};
use crate::shape::product;

/// A pool, and the span of each position in each dim.
struct Pool<'a> {
    job: &'a PoolJob,
    spans: [Vec<WindowSpan>; 3],
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
    const START: A;
    fn join(a: A, b: A) -> A;
    /// Returns the result; `counts` positions were counted along each dim. Their product can exceed `usize`, because it
    /// includes padding.
    fn finish(kind: PoolKind, value: A, counts: [usize; 3]) -> A;
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
    #[inline(always)]
    fn join(a: A, b: A) -> A {
        if b.beats(a) { b } else { a }
    }
    #[inline(always)]
    fn finish(_: PoolKind, value: A, _: [usize; 3]) -> A {
        value
    }
}

macro_rules! mean {
    ($($t:ty: $zero:expr, $plus:expr, $divisor:ty, $count:expr, $over:expr;)*) => {$(
        impl Join<$t> for MeanJoin {
            const START: $t = $zero;
            #[inline(always)]
            fn join(a: $t, b: $t) -> $t {
                let plus: fn($t, $t) -> $t = $plus;
                plus(a, b)
            }
            #[inline(always)]
            fn finish(kind: PoolKind, value: $t, counts: [usize; 3]) -> $t {
                let count: fn([usize; 3]) -> $divisor = $count;
                let over: fn($t, $divisor) -> $t = $over;
                match kind {
                    PoolKind::Mean(Some(divisor)) => over(value, divisor as $divisor),
                    // A window entirely in the padding counts nothing.
                    _ if counts.contains(&0) => $zero,
                    _ => over(value, count(counts)),
                }
            }
        }
    )*};
}
mean! {
    i64: 0, i64::wrapping_add, i64, whole_count, i64::wrapping_div;
    f32: 0.0, |a, b| a + b, f64, float_count, |sum, by| sum / by as f32;
    f64: 0.0, |a, b| a + b, f64, float_count, |sum, by| sum / by;
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
        let mut joined = Scratch::new([job.size[2]], J::START)?;
        dispatch(PoolRows::<S, A, J> {
            job,
            range,
            joined: &mut joined,
            types: PhantomData,
        });
        Ok(())
    };
    let missing = Missing::new();
    split_rows(job, &|range| missing.attempt(|| rows(range)));
    missing.result()
}

/// Some rows of the result.
struct PoolRows<'a, S, A, J> {
    job: &'a Pool<'a>,
    range: Range<usize>,
    /// A buffer as wide as a row of the input.
    joined: &'a mut [A],
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

    #[inline(always)]
    fn run(self) {
        let job = self.job;
        let [depth, height, width] = job.size;
        let step = job.covers.map(|cover| cover.step());
        for row in self.range {
            let (plane, z, y) = locate(job, row);
            self.joined.fill(J::START);
            for kz in 0..z.taps {
                for ky in 0..y.taps {
                    let line =
                        (plane * depth + z.start + kz * step[0]) * height + y.start + ky * step[1];
                    let line = job.x.cast::<S>().wrapping_add(line * width);
                    for (i, joined) in self.joined.iter_mut().enumerate() {
                        // SAFETY: spans are within the planes.
                        let x = unsafe { line.add(i).read() };
                        *joined = J::join(*joined, x.up());
                    }
                }
            }
            let spans = &job.spans[2];
            let out = job.out.cast::<S>().wrapping_add(row * spans.len());
            for (i, x) in spans.iter().enumerate() {
                let value = match (x.taps, self.joined.get(x.start..).unwrap_or_default()) {
                    // Without a loop of few steps.
                    (2, &[a, b, ..]) if step[2] == 1 => J::join(J::join(J::START, a), b),
                    (3, &[a, b, c, ..]) if step[2] == 1 => {
                        J::join(J::join(J::join(J::START, a), b), c)
                    }
                    (taps, joined) => {
                        (0..taps).fold(J::START, |value, kx| J::join(value, joined[kx * step[2]]))
                    }
                };
                let counts = if [z.taps, y.taps, x.taps].contains(&0) {
                    [0; 3]
                } else {
                    [z.count, y.count, x.count]
                };
                // SAFETY: this task owns the row.
                unsafe {
                    out.add(i)
                        .write(S::down(J::finish(job.kind, value, counts)))
                };
            }
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
