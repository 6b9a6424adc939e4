//! Pools: rows under a window are combined first, as wide as they are, then the window's columns.

use std::marker::PhantomData;
use std::ops::{Deref, Range};

use half::{bf16, f16};
use nomina_core::DType;

use super::number::Widen;
use crate::job::{PoolJob, PoolKind, Span};

use crate::cpu::parallel::{GRAIN, Missing, split};
use crate::cpu::reduce::simd::{Kernel, dispatch};
use crate::memory::scratch::collect;
use crate::memory::{NoMemory, Scratch};
use crate::shape::product;

/// A pool, and what each position covers of each dim.
struct Pool<'a> {
    job: &'a PoolJob,
    spans: [Vec<Span>; 3],
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
/// All elements lie where the job says; nobody else uses the results meanwhile.
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
                        let at = Places::<$t, $greatest>(job, indices, PhantomData);
                        split_rows(job, &|range| at.rows(range));
                        Ok(())
                    }
                    (PoolKind::Max, None) => values::<$t, $greatest, Greatest>(job),
                    (PoolKind::Mean(_), _) => values::<$t, $sum, Mean>(job),
                },)*
                // The row's dtypes are those above.
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

/// What elements become one number of.
trait Join<A> {
    const START: A;
    fn join(a: A, b: A) -> A;
    /// `counts` positions were counted along each dim; their product can be more than a `usize`, since it includes padding.
    fn finish(kind: PoolKind, value: A, counts: [usize; 3]) -> A;
}

struct Greatest;
struct Mean;

/// A number that has an order, and a least one.
trait Ordered: Copy + Send + Sync + 'static {
    const LEAST: Self;
    /// Whether `self` takes the place of `other`: it is greater, or NaN.
    fn beats(self, other: Self) -> bool;
}

macro_rules! ordered {
    ($($t:ty: $least:expr, $beats:expr;)*) => {$(
        impl Ordered for $t {
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

impl<A: Ordered> Join<A> for Greatest {
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
        impl Join<$t> for Mean {
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
                    // A window that lies outside whole counts nothing.
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

/// The product of the counts, at most [`i64::MAX`].
#[inline(always)]
fn whole_count(counts: [usize; 3]) -> i64 {
    i64::try_from(product(counts)).unwrap_or(i64::MAX)
}

/// The product of the counts. Exact below 2^53.
#[inline(always)]
fn float_count([z, y, x]: [usize; 3]) -> f64 {
    z as f64 * y as f64 * x as f64
}

/// Shares the rows of the result out.
fn split_rows(job: &Pool<'_>, run: &(dyn Fn(Range<usize>) + Sync)) {
    let rows = product([job.planes, job.spans[0].len(), job.spans[1].len()]);
    // A row reads the rows under the window; those of one plane are much alike.
    let under = |spans: &[Span]| spans.first().map_or(1, |span| span.taps.max(1));
    let work = product([job.size[2], under(&job.spans[0]), under(&job.spans[1])]);
    let work = work.saturating_add(job.spans[2].len());
    split(rows, GRAIN / 4 / work.max(1), run);
}

fn values<S: Widen<A>, A: Copy + Send + Sync + 'static, J: Join<A>>(
    job: &Pool<'_>,
) -> Result<(), NoMemory> {
    let rows = |range| {
        let mut joined = Scratch::new([job.size[2]], J::START)?;
        dispatch(Rows::<S, A, J> {
            job,
            range,
            joined: &mut joined,
            types: PhantomData,
        });
        Ok(())
    };
    let missing = Missing::new();
    split_rows(job, &|range| missing.look(|| rows(range)));
    missing.result()
}

/// Some rows of the result.
struct Rows<'a, S, A, J> {
    job: &'a Pool<'a>,
    range: Range<usize>,
    /// As wide as a row of the input.
    joined: &'a mut [A],
    types: PhantomData<(S, J)>,
}

/// Where a row of the result stands.
#[inline(always)]
fn locate(job: &Pool<'_>, row: usize) -> (usize, Span, Span) {
    let (depth, height) = (job.spans[0].len(), job.spans[1].len());
    (
        row / (depth * height),
        job.spans[0][row / height % depth],
        job.spans[1][row % height],
    )
}

impl<S: Widen<A>, A: Copy, J: Join<A>> Kernel for Rows<'_, S, A, J> {
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
                        // SAFETY: spans lie in the planes.
                        let x = unsafe { line.add(i).read() };
                        *joined = J::join(*joined, x.up());
                    }
                }
            }
            let spans = &job.spans[2];
            let out = job.out.cast::<S>().wrapping_add(row * spans.len());
            for (i, x) in spans.iter().enumerate() {
                let mut value = J::START;
                for kx in 0..x.taps {
                    value = J::join(value, self.joined[x.start + kx * step[2]]);
                }
                let counts = if [z.taps, y.taps, x.taps].contains(&0) {
                    [0; 3]
                } else {
                    [z.count, y.count, x.count]
                };
                // SAFETY: the row is this task's own.
                unsafe {
                    out.add(i)
                        .write(S::down(J::finish(job.kind, value, counts)))
                };
            }
        }
    }
}

/// The greatest elements and where they stand.
struct Places<'a, S, A>(&'a Pool<'a>, *mut i64, PhantomData<(S, A)>);

// SAFETY: only addresses and numbers; tasks write to rows of their own.
unsafe impl<S, A> Sync for Places<'_, S, A> {}

impl<S: Widen<A>, A: Ordered> Places<'_, S, A> {
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
                            // SAFETY: spans lie in the planes.
                            let value = unsafe { first.add(at).read() }.up();
                            if value.beats(best) {
                                (best, place) = (value, at);
                            }
                        }
                    }
                }
                let at = row * spans.len() + i;
                // SAFETY: the row is this task's own, in both results.
                unsafe {
                    job.out.cast::<S>().add(at).write(S::down(best));
                    indices.add(at).write(place as i64);
                }
            }
        }
    }
}
