//! Rows normalised to mean zero and variance one, or to mean square one.
//!
//! A row is read once from memory: the mean, the squares around it and the result are computed while it
//! is in the cache. Sums are accumulated in lanes within a block, and in `f64` over blocks. A row whose
//! squares overflow or underflow is recomputed in `f64` with a scale.

use nomina_core::DType;

use super::nontemporal::NonTemporal;
use super::parallel::{GRAIN, Shared, try_split};
use super::reduce::real::{BlockFloat, total};
use super::reduce::scale::SquareScale;
use super::reduce::simd::{Kernel, dispatch};
use super::rows::{RowDims, RowLayout};
use crate::dispatch::arithmetic;
use crate::job::{NormJob, Place};

use crate::memory::{NoMemory, Scratch};
use crate::shape::product;

/// Elements that are summed in lanes before the lanes are added to the wide sum.
const BLOCK: usize = 1024;
/// Rows shorter than this are summed in fewer lanes, which take less time to add.
pub(super) const SHORT: usize = 64;
/// The mean is rounded to the elements' dtype. If the rounding error moves the results by more than this,
/// the remainder is subtracted, too.
const ROUNDING: f64 = 2.5e-7;

/// A kernel that computes the sum of x - mean, and that of its square if `SQUARES`.
///
/// Rows that are not short have enough lanes that the compiler vectorises the loop over them instead of unrolling it
/// into scalar operations.
struct Total<'a, T, const SQUARES: bool, const LANES: usize> {
    row: &'a [T],
    mean: T,
}

impl<T: BlockFloat, const SQUARES: bool, const LANES: usize> Kernel
    for Total<'_, T, SQUARES, LANES>
{
    type Out = [f64; 2];
    #[inline(always)]
    fn run(self) -> [f64; 2] {
        let mut totals = [0.0; 2];
        for block in self.row.chunks(BLOCK) {
            let (mut lanes, mut squares) = ([T::ZERO; LANES], [T::ZERO; LANES]);
            let (chunks, rest) = block.as_chunks::<LANES>();
            for chunk in chunks {
                for i in 0..LANES {
                    let x = chunk[i] - self.mean;
                    lanes[i] += x;
                    if SQUARES {
                        squares[i] += x * x;
                    }
                }
            }
            for (i, &x) in rest.iter().enumerate() {
                let x = x - self.mean;
                lanes[i] += x;
                if SQUARES {
                    squares[i] += x * x;
                }
            }
            totals[0] += total(&lanes);
            if SQUARES {
                totals[1] += total(&squares);
            }
        }
        totals
    }
}

/// The mean of a row, and its root mean squared deviation.
#[derive(Clone, Copy, Debug)]
struct Moments {
    mean: f64,
    deviation: f64,
}

impl Moments {
    /// Returns the factor of the results.
    fn factor(&self, eps: f64) -> f64 {
        slope(self.deviation, eps)
    }
}

/// Returns the inverse root of `deviation`² + `eps`.
#[inline]
pub(crate) fn slope(deviation: f64, eps: f64) -> f64 {
    let variance = deviation * deviation + eps;
    match SquareScale::for_squares(variance) {
        SquareScale::One => 1.0 / variance.sqrt(),
        _ if eps >= 0.0 => 1.0 / deviation.hypot(eps.sqrt()),
        _ => 1.0 / variance.sqrt(),
    }
}

/// Returns the moments of a row, or `None` if it must be recomputed because of overflow or underflow.
#[inline(always)]
fn moments<T: BlockFloat>(row: &[T], rms: bool, eps: f64) -> Option<Moments> {
    let count = row.len() as f64;
    let mean = T::ZERO;
    let [sum, _] = match row.len() {
        _ if rms => [0.0; 2],
        0..SHORT => dispatch(Total::<T, false, 16> { row, mean }),
        _ => dispatch(Total::<T, false, 64> { row, mean }),
    };
    let mean = T::from_f64(sum / count);
    let sums = if row.len() < SHORT {
        dispatch(Total::<T, true, 16> { row, mean })
    } else {
        dispatch(Total::<T, true, 32> { row, mean })
    };
    let [off, squares] = sums.map(|sum| sum / count);
    let (mean, variance) = if rms {
        (0.0, squares)
    } else {
        (mean.wide() + off, (squares - off * off).max(0.0))
    };
    // An `eps` greater than any loss by underflow hides it.
    let least = T::LEAST_SQUARE;
    let fits = squares < f64::INFINITY && (squares >= least || eps >= least);
    let deviation = variance.sqrt();
    fits.then_some(Moments { mean, deviation })
}

/// A row that is computed in `f64` with a scale.
struct Again {
    moments: Moments,
    scale: SquareScale,
    /// The initial estimate of the mean, and its scaled error.
    about: f64,
    off: f64,
    factor: f64,
}

impl Again {
    #[cold]
    #[inline(never)]
    fn new<T: BlockFloat>(row: &[T], rms: bool, eps: f64) -> Self {
        let count = row.len() as f64;
        // Dividing first keeps each summand in the range of the elements.
        let sum = row.iter().fold(0.0, |sum, x| sum + x.wide() / count);
        let about = if rms { 0.0 } else { sum };
        let with = |scale: SquareScale| {
            let start = [0.0; 2];
            let sums = row.iter().fold(start, |[off, squares], x| {
                let x = scale.difference(x.wide(), about);
                [off + x, squares + x * x]
            });
            sums.map(|sum| sum / count)
        };
        let scale = SquareScale::for_squares(with(SquareScale::One)[1]);
        let [off, squares] = with(scale);
        let off = if rms { 0.0 } else { off };
        let root = (squares - off * off).max(0.0).sqrt();
        let root = if squares.is_nan() { f64::NAN } else { root };
        // An infinite mean has no deviations.
        let mean = if about.is_finite() {
            about + off / scale.factor()
        } else {
            about
        };
        let moments = Moments {
            mean,
            deviation: root / scale.factor(),
        };
        let factor = 1.0 / root.hypot(eps.sqrt() * scale.factor());
        Self {
            moments,
            scale,
            about,
            off,
            factor,
        }
    }

    /// Writes the normalised row.
    ///
    /// # Safety
    /// `out` is writable for `row.len()` elements, and each scale has that length.
    #[cold]
    #[inline(never)]
    unsafe fn write<T: BlockFloat>(&self, row: &[T], out: *mut T, scales: [Option<&[T]>; 2]) {
        for (i, x) in row.iter().enumerate() {
            let x = (self.scale.difference(x.wide(), self.about) - self.off) * self.factor;
            let x = scales[0].map_or(x, |weight| x * weight[i].wide());
            let x = scales[1].map_or(x, |bias| x + bias[i].wide());
            // SAFETY: guaranteed by the caller.
            unsafe { out.add(i).write(T::from_f64(x)) };
        }
    }
}

/// A kernel that computes (x - mean - off) * factor * weight + bias, without `off` unless `OFF`.
struct Apply<'a, T, const OFF: bool> {
    row: &'a [T],
    out: *mut T,
    mean: T,
    off: T,
    factor: T,
    weight: Option<&'a [T]>,
    bias: Option<&'a [T]>,
}

impl<T: BlockFloat, const OFF: bool> Kernel for Apply<'_, T, OFF> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        let (n, mean, off, factor) = (self.row.len(), self.mean, self.off, self.factor);
        let standard = |x: T| {
            let x = x - mean;
            (if OFF { x - off } else { x }) * factor
        };
        // SAFETY: the creator of this struct guarantees that the elements are writable.
        let write = |i: usize, x: T| unsafe { self.out.add(i).write(x) };
        match (self.weight, self.bias) {
            (None, None) => {
                for (i, &x) in self.row.iter().enumerate() {
                    write(i, standard(x));
                }
            }
            (Some(weight), None) => {
                for (i, (&x, &w)) in self.row.iter().zip(&weight[..n]).enumerate() {
                    write(i, standard(x) * w);
                }
            }
            (None, Some(bias)) => {
                for (i, (&x, &b)) in self.row.iter().zip(&bias[..n]).enumerate() {
                    write(i, standard(x) + b);
                }
            }
            (Some(weight), Some(bias)) => {
                let scales = weight[..n].iter().zip(&bias[..n]);
                for (i, (&x, (&w, &b))) in self.row.iter().zip(scales).enumerate() {
                    write(i, standard(x) * w + b);
                }
            }
        }
    }
}

/// Computes a normalisation.
///
/// # Safety
/// The operands and results are in bounds, and nobody else accesses the results meanwhile.
pub(crate) unsafe fn execute(job: &NormJob<'_>) -> Result<(), NoMemory> {
    // SAFETY: guaranteed by the caller.
    unsafe {
        match arithmetic(job.compute) {
            DType::F64 => each_row::<f64>(job),
            _ => each_row::<f32>(job),
        }
    }
}

/// A weight or bias of the row's elements, read only once if it is the same for all rows.
struct RowParameter<'a, T> {
    lines: &'a RowLayout,
    buffer: Scratch<T>,
    ready: bool,
}

impl<'a, T: BlockFloat> RowParameter<'a, T> {
    fn new(lines: &'a RowLayout, rows: &RowDims) -> Result<Self, NoMemory> {
        let own = if lines.is_dense::<T>() { 0 } else { rows.len };
        Ok(Self {
            lines,
            buffer: Scratch::new([own], T::ZERO)?,
            ready: false,
        })
    }

    /// # Safety
    /// The requirements of [`RowDims::load`].
    unsafe fn row(&mut self, rows: &RowDims, row: usize) -> &[T] {
        if self.ready {
            return &self.buffer;
        }
        if self.lines.is_constant() && !self.lines.is_dense::<T>() {
            self.ready = true;
        }
        // SAFETY: guaranteed by the caller.
        unsafe { rows.load(self.lines, row, &mut self.buffer) }
    }
}

/// Writes the result of a row.
///
/// # Safety
/// `out` is writable for `row.len()` elements.
unsafe fn apply<T: BlockFloat>(
    row: &[T],
    out: *mut T,
    found: Moments,
    eps: f64,
    [weight, bias]: [Option<&[T]>; 2],
) {
    let (mean, factor) = (T::from_f64(found.mean), found.factor(eps));
    let off = found.mean - mean.wide();
    macro_rules! apply {
        ($off:literal) => {
            dispatch(Apply::<T, $off> {
                row,
                out,
                mean,
                off: T::from_f64(off),
                factor: T::from_f64(factor),
                weight,
                bias,
            })
        };
    }
    if off.abs() * factor > ROUNDING {
        apply!(true);
    } else {
        apply!(false);
    }
}

unsafe fn each_row<T: BlockFloat>(job: &NormJob<'_>) -> Result<(), NoMemory> {
    let (shape, dims) = (job.shape, job.dims);
    let rows = RowDims::new(shape, dims);
    let x = rows.layout(job.x, shape, job.strides, dims);
    let out = rows.layout(job.out, shape, job.out_strides, dims);
    let scale = |of: &Option<(Place, &[isize])>| {
        of.map(|(place, strides)| rows.layout(place, shape, strides, dims))
    };
    let (weight, bias) = (scale(&job.weight), scale(&job.bias));
    let stats = Shared(job.stats.cast());
    let bytes = product([rows.count, rows.len, size_of::<T>(), 2]);
    let past = NonTemporal::for_bytes(bytes).filter(|_| out.is_dense::<T>());
    let direct = past.is_none() && out.is_dense::<T>();
    let (rms, eps) = (job.rms, job.eps);
    try_split(rows.count, (GRAIN / rows.len.max(1)).max(1), &|range| {
        let own = |needed: bool| Scratch::new([usize::from(needed), rows.len], T::ZERO);
        let (mut input, mut output) = (own(!x.is_dense::<T>())?, own(!direct)?);
        let weight = weight
            .as_ref()
            .map(|lines| RowParameter::<T>::new(lines, &rows));
        let bias = bias
            .as_ref()
            .map(|lines| RowParameter::<T>::new(lines, &rows));
        let (mut weight, mut bias) = (weight.transpose()?, bias.transpose()?);
        for index in range {
            // SAFETY: operands are readable and each row of the result is written by one task, as the
            // caller guarantees.
            unsafe {
                let row = rows.load(&x, index, &mut input);
                let (found, again) = match moments(row, rms, eps) {
                    Some(found) => (found, None),
                    None => {
                        let again = Again::new(row, rms, eps);
                        (again.moments, Some(again))
                    }
                };
                let stats = stats.get().cast::<f64>();
                if !stats.is_null() {
                    stats.add(2 * index).write(found.mean);
                    stats.add(2 * index + 1).write(found.deviation);
                }
                let start = rows.start(&out, index);
                let to = if direct {
                    start.cast()
                } else {
                    output.as_mut_ptr()
                };
                let weight = weight.as_mut().map(|scale| scale.row(&rows, index));
                let bias = bias.as_mut().map(|scale| scale.row(&rows, index));
                match &again {
                    Some(again) => again.write(row, to, [weight, bias]),
                    None => apply(row, to, found, eps, [weight, bias]),
                }
                match past {
                    Some(past) => past.copy(to.cast(), start, rows.len * size_of::<T>()),
                    None if !direct => rows.store(&out, index, &output),
                    None => {}
                }
            }
        }
        if let Some(past) = past {
            past.settle();
        }
        Ok(())
    })
}
