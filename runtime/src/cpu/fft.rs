//! Fourier transforms of rows, by the crates `rustfft` and `realfft`.

use std::sync::{Arc, Mutex, PoisonError};

use realfft::num_complex::Complex;
use realfft::{ComplexToReal, RealFftPlanner, RealToComplex};
use rustfft::{Fft, FftDirection, FftNum, FftPlanner};

use super::parallel::{Missing, rows};
use crate::memory::NoMemory;
use crate::memory::scratch::{filled, room};

/// The real type of a signal: `f32` or `f64`.
pub(crate) trait Sample: FftNum + Default {
    fn plans() -> &'static Mutex<Plans<Self>>;
    fn scale(by: f64) -> Self;
}

/// The cached plans of each length, which hold twiddle factors.
pub(crate) struct Plans<T: FftNum> {
    complex: Option<FftPlanner<T>>,
    real: Option<RealFftPlanner<T>>,
    lengths: Vec<usize>,
}

/// The most lengths to cache; beyond that, the cache is cleared.
const LENGTHS: usize = 64;

impl<T: FftNum> Plans<T> {
    const fn new() -> Self {
        Self {
            complex: None,
            real: None,
            lengths: Vec::new(),
        }
    }

    fn remember(&mut self, n: usize) {
        if self.lengths.contains(&n) {
            return;
        }
        if self.lengths.len() == LENGTHS {
            *self = Self::new();
        }
        self.lengths.push(n);
    }

    fn complex(&mut self, n: usize, direction: FftDirection) -> Arc<dyn Fft<T>> {
        self.remember(n);
        let planner = self.complex.get_or_insert_with(FftPlanner::new);
        planner.plan_fft(n, direction)
    }

    fn half(&mut self, n: usize) -> Arc<dyn RealToComplex<T>> {
        self.remember(n);
        let planner = self.real.get_or_insert_with(RealFftPlanner::new);
        planner.plan_fft_forward(n)
    }

    fn whole(&mut self, n: usize) -> Arc<dyn ComplexToReal<T>> {
        self.remember(n);
        let planner = self.real.get_or_insert_with(RealFftPlanner::new);
        planner.plan_fft_inverse(n)
    }
}

macro_rules! samples {
    ($($t:ident)*) => {$(
        impl Sample for $t {
            fn plans() -> &'static Mutex<Plans<Self>> {
                static PLANS: Mutex<Plans<$t>> = Mutex::new(Plans::new());
                &PLANS
            }

            fn scale(by: f64) -> Self {
                by as Self
            }
        }
    )*};
}
samples!(f32 f64);

/// The memory of a plan is at most this multiple of its signal's.
const PLAN: usize = 8;

/// Returns a plan for length `n`. Checks first that enough memory is available, because the planner aborts the
/// process if an allocation fails.
fn plan<T: Sample, P>(n: usize, ask: impl FnOnce(&mut Plans<T>) -> P) -> Result<P, NoMemory> {
    drop(room::<Complex<T>, 2>([n, PLAN])?);
    let mut plans = T::plans().lock().unwrap_or_else(PoisonError::into_inner);
    Ok(ask(&mut plans))
}

/// Transforms rows of length `n` in place and multiplies them by `scale`.
pub(crate) fn complex<T: Sample>(
    data: &mut [Complex<T>],
    n: usize,
    inverse: bool,
    scale: f64,
) -> Result<(), NoMemory> {
    let direction = if inverse {
        FftDirection::Inverse
    } else {
        FftDirection::Forward
    };
    let fft = plan(n, |plans: &mut Plans<T>| plans.complex(n, direction))?;
    let missing = Missing::new();
    rows(data, n, &|_, part| {
        missing.attempt(|| {
            let mut scratch = filled([fft.get_inplace_scratch_len()], Complex::default())?;
            fft.process_with_scratch(part, &mut scratch);
            if scale != 1.0 {
                let scale = T::scale(scale);
                part.iter_mut().for_each(|x| *x = *x * scale);
            }
            Ok(())
        });
    });
    missing.result()
}

/// Computes the first half of the transforms of real rows of length `n`; the second half is its mirror image.
pub(crate) fn half<T: Sample>(
    source: &[T],
    out: &mut [Complex<T>],
    n: usize,
    scale: f64,
) -> Result<(), NoMemory> {
    let fft = plan(n, |plans: &mut Plans<T>| plans.half(n))?;
    let missing = Missing::new();
    rows(out, n / 2 + 1, &|first, part| {
        missing.attempt(|| {
            let mut own = filled([n], T::default())?;
            let mut scratch = filled([fft.get_scratch_len()], Complex::default())?;
            let scale = T::scale(scale);
            for (row, out) in part.chunks_exact_mut(n / 2 + 1).enumerate() {
                // The transform overwrites its input.
                own.copy_from_slice(&source[(first + row) * n..][..n]);
                let done = fft.process_with_scratch(&mut own, out, &mut scratch);
                debug_assert!(done.is_ok(), "lengths are those of the plan");
                out.iter_mut().for_each(|x| *x = *x * scale);
            }
            Ok(())
        });
    });
    missing.result()
}

/// Computes real rows of length `n` from the first half of their transforms, rows of length `m`. Missing
/// elements are zero, extra ones are ignored.
pub(crate) fn whole<T: Sample>(
    source: &[Complex<T>],
    m: usize,
    out: &mut [T],
    n: usize,
    scale: f64,
) -> Result<(), NoMemory> {
    let fft = plan(n, |plans: &mut Plans<T>| plans.whole(n))?;
    let missing = Missing::new();
    rows(out, n, &|first, part| {
        missing.attempt(|| {
            let mut own = filled([n / 2 + 1], Complex::default())?;
            let mut scratch = filled([fft.get_scratch_len()], Complex::default())?;
            let scale = T::scale(scale);
            for (row, out) in part.chunks_exact_mut(n).enumerate() {
                let read = m.min(own.len());
                own[..read].copy_from_slice(&source[(first + row) * m..][..read]);
                own[read..].fill(Complex::default());
                // For real rows these have no imaginary part; it is ignored.
                own[0].im = T::default();
                if n.is_multiple_of(2) {
                    own[n / 2].im = T::default();
                }
                let done = fft.process_with_scratch(&mut own, out, &mut scratch);
                debug_assert!(done.is_ok(), "lengths are those of the plan");
                out.iter_mut().for_each(|x| *x = *x * scale);
            }
            Ok(())
        });
    });
    missing.result()
}
