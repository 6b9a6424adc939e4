//! Norms of the differences between rows.

use std::ops::Range;

use half::{bf16, f16};
use nomina_core::DType;

use crate::cpu::parallel::Shared;
use crate::cpu::reduce::scale::inverse_exponent;
use crate::cpu::reduce::simd::{Kernel, dispatch};
use crate::cpu::reduce::split::try_for_each;
use crate::job::DistanceJob;
use crate::memory::{NoMemory, Scratch};

/// Rows of the left operand that are processed together.
const ROWS: usize = 16;
/// Partial sums that are accumulated in parallel.
const LANES: usize = 8;

/// Computes all distances of a job.
///
/// # Safety
/// The operands have the job's sizes; nobody else accesses the result.
pub(crate) unsafe fn execute(job: &DistanceJob) -> Result<(), NoMemory> {
    // SAFETY: guaranteed by the caller, for elements of the dtype's type.
    unsafe {
        match job.dtype {
            DType::F64 => distance_as::<f64>(job),
            DType::F16 => distance_as::<f16>(job),
            DType::BF16 => distance_as::<bf16>(job),
            _ => distance_as::<f32>(job),
        }
    }
}

/// A stored element type and the type that it is computed in.
trait Stored: Copy + Send + Sync {
    type In: DistanceFloat;
    fn load(self) -> Self::In;
    fn store(value: Self::In) -> Self;
}

trait DistanceFloat: Copy + Send + Sync {
    const ZERO: Self;
    /// The range of norms whose powers neither overflow nor underflow; other norms are recomputed.
    const ORDINARY: Range<f64>;
    fn wide(self) -> f64;
    fn from_f64(value: f64) -> Self;
    fn plus(self, other: Self) -> Self;
    fn greater(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    /// Returns the absolute difference.
    fn apart(self, other: Self) -> Self;
    fn power(self, exponent: Self) -> Self;
    fn root(self) -> Self;
    fn is_zero(self) -> bool;
}

macro_rules! real {
    ($($t:ident $ordinary:expr;)*) => {$(
        impl DistanceFloat for $t {
            const ZERO: $t = 0.0;
            const ORDINARY: Range<f64> = $ordinary;
            #[inline(always)]
            fn wide(self) -> f64 {
                self.into()
            }
            #[inline(always)]
            fn from_f64(value: f64) -> $t {
                value as $t
            }
            #[inline(always)]
            fn plus(self, other: $t) -> $t {
                self + other
            }
            // NaN is propagated.
            #[inline(always)]
            fn greater(self, other: $t) -> $t {
                if other > self || other.is_nan() { other } else { self }
            }
            #[inline(always)]
            fn times(self, other: $t) -> $t {
                self * other
            }
            #[inline(always)]
            fn apart(self, other: $t) -> $t {
                (self - other).abs()
            }
            #[inline(always)]
            fn power(self, exponent: $t) -> $t {
                self.powf(exponent)
            }
            #[inline(always)]
            fn root(self) -> $t {
                self.sqrt()
            }
            #[inline(always)]
            fn is_zero(self) -> bool {
                self == 0.0
            }
        }

        impl Stored for $t {
            type In = $t;
            #[inline(always)]
            fn load(self) -> $t {
                self
            }
            #[inline(always)]
            fn store(value: $t) -> $t {
                value
            }
        }
    )*};
}
real! {
    f32 1e-15..1e18;
    f64 1e-140..1e150;
}

macro_rules! stored_half {
    ($($t:ident)*) => {$(
        impl Stored for $t {
            type In = f32;
            #[inline(always)]
            fn load(self) -> f32 {
                self.to_f32()
            }
            #[inline(always)]
            fn store(value: f32) -> $t {
                $t::from_f32(value)
            }
        }
    )*};
}
stored_half!(f16 bf16);

unsafe fn distance_as<T: Stored>(job: &DistanceJob) -> Result<(), NoMemory> {
    let DistanceJob { m, n, depth, .. } = *job;
    let blocks = m.div_ceil(ROWS);
    let (a, b) = (Shared(job.a.cast_mut()), Shared(job.b.cast_mut()));
    let out = Shared(job.out);
    let p = job.p;
    let work = ROWS.min(m).saturating_mul(n).saturating_mul(depth.max(1));
    try_for_each(job.batch * blocks, work, &|task| {
        let (batch, first) = (task / blocks, task % blocks * ROWS);
        let rows = ROWS.min(m - first);
        // SAFETY: all indices are within the operands' sizes; each task owns its rows of the result.
        unsafe {
            let a = a.get().cast::<T>().add((batch * m + first) * depth);
            let b = b.get().cast::<T>().add(batch * n * depth);
            let out = out.get().cast::<T>().add((batch * m + first) * n);
            let mut own = Scratch::new([rows, depth], T::In::ZERO)?;
            for (i, value) in own.iter_mut().enumerate() {
                *value = a.add(i).read().load();
            }
            let mut row = Scratch::new([depth], T::In::ZERO)?;
            for j in 0..n {
                for (k, value) in row.iter_mut().enumerate() {
                    *value = b.add(j * depth + k).read().load();
                }
                for i in 0..rows {
                    let x = &own[i * depth..(i + 1) * depth];
                    let mut distance = dispatch(Distance { x, y: &row, p });
                    if !T::In::ORDINARY.contains(&distance.wide()) && p != 0.0 && p != f64::INFINITY
                    {
                        distance = again(x, &row, p);
                    }
                    out.add(i * n + j).write(T::store(distance));
                }
            }
        }
        Ok(())
    })
}

/// Computes the distance of two rows whose powers may overflow or underflow, with differences scaled by
/// the largest one.
#[cold]
#[inline(never)]
fn again<R: DistanceFloat>(x: &[R], y: &[R], p: f64) -> R {
    let apart = || {
        let pairs = x.iter().zip(y);
        pairs.map(|(x, y)| (x.wide() - y.wide()).abs())
    };
    let most = apart().fold(0.0, |most: f64, d| most.greater(d));
    let scale = inverse_exponent(most);
    let sum: f64 = apart().map(|d| (d * scale).powf(p)).sum();
    R::from_f64(sum.powf(1.0 / p) / scale)
}

/// A kernel that computes the distance of two rows.
struct Distance<'a, R> {
    x: &'a [R],
    y: &'a [R],
    p: f64,
}

impl<R: DistanceFloat> Kernel for Distance<'_, R> {
    type Out = R;
    #[inline(always)]
    fn run(self) -> R {
        let Self { x, y, p } = self;
        let add = |a: R, b: R| a.plus(b);
        if p == 2.0 {
            fold(x, y, |d| d.times(d), add).root()
        } else if p == 1.0 {
            fold(x, y, |d| d, add)
        } else if p == f64::INFINITY {
            fold(x, y, |d| d, |a, b| a.greater(b))
        } else if p == 0.0 {
            let one = R::from_f64(1.0);
            fold(x, y, |d| if d.is_zero() { R::ZERO } else { one }, add)
        } else {
            let exponent = R::from_f64(p);
            fold(x, y, |d| d.power(exponent), add).power(R::from_f64(1.0 / p))
        }
    }
}

#[inline(always)]
fn fold<R: DistanceFloat>(x: &[R], y: &[R], of: impl Fn(R) -> R, join: impl Fn(R, R) -> R) -> R {
    let mut lanes = [R::ZERO; LANES];
    let (mut left, mut right) = (x.chunks_exact(LANES), y.chunks_exact(LANES));
    for (x, y) in (&mut left).zip(&mut right) {
        for ((lane, &x), &y) in lanes.iter_mut().zip(x).zip(y) {
            *lane = join(*lane, of(x.apart(y)));
        }
    }
    let rest = left.remainder().iter().zip(right.remainder());
    for (lane, (&x, &y)) in lanes.iter_mut().zip(rest) {
        *lane = join(*lane, of(x.apart(y)));
    }
    lanes.into_iter().fold(R::ZERO, join)
}
