//! Rows normalised to mean zero and variance one, or to mean square one.
//!
//! A row is read once from memory: the mean, the squares around it and the result come from it
//! while it is in the cache. Sums run in lanes over blocks, and over blocks in `f64`.

use nomina_core::DType;

use super::nontemporal::NonTemporal;
use super::parallel::{GRAIN, Shared, try_split};
use super::reduce::real::Real;
use super::reduce::simd::{Kernel, dispatch};
use super::rows::{Lines, Rows};
use crate::dispatch::arithmetic;
use crate::job::{NormJob, Place};

use crate::memory::{NoMemory, Scratch};
use crate::shape::product;

/// Elements that sum up in lanes before they go to the wide sum.
const BLOCK: usize = 1024;
const LANES: usize = 16;

/// The sum of (x - mean)^power, for a power of 1 or 2.
struct Total<'a, T> {
    row: &'a [T],
    mean: T,
    squares: bool,
}

impl<T: Real> Kernel for Total<'_, T> {
    type Out = f64;
    #[inline(always)]
    fn run(self) -> f64 {
        let mut total = 0.0;
        for block in self.row.chunks(BLOCK) {
            let mut lanes = [T::ZERO; LANES];
            let chunks = block.chunks_exact(LANES);
            let rest = chunks.remainder();
            if self.squares {
                for chunk in chunks {
                    for (lane, &x) in lanes.iter_mut().zip(chunk) {
                        let x = x - self.mean;
                        *lane += x * x;
                    }
                }
                for (lane, &x) in lanes.iter_mut().zip(rest) {
                    let x = x - self.mean;
                    *lane += x * x;
                }
            } else {
                for chunk in chunks {
                    for (lane, &x) in lanes.iter_mut().zip(chunk) {
                        *lane += x;
                    }
                }
                for (lane, &x) in lanes.iter_mut().zip(rest) {
                    *lane += x;
                }
            }
            total += lanes.iter().fold(0.0, |sum, lane| sum + lane.wide());
        }
        total
    }
}

/// (x - mean) * factor * weight + bias
struct Apply<'a, T> {
    row: &'a [T],
    out: *mut T,
    mean: T,
    factor: T,
    weight: Option<&'a [T]>,
    bias: Option<&'a [T]>,
}

impl<T: Real> Kernel for Apply<'_, T> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        let (n, mean, factor) = (self.row.len(), self.mean, self.factor);
        let standard = |x: T| (x - mean) * factor;
        // SAFETY: whoever made this says that so many elements can be written.
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
/// The operands and the results lie where the job says, and nobody else uses the results meanwhile.
pub(crate) unsafe fn execute(job: &NormJob<'_>) -> Result<(), NoMemory> {
    // SAFETY: the caller's promise.
    unsafe {
        match arithmetic(job.compute) {
            DType::F64 => each_row::<f64>(job),
            _ => each_row::<f32>(job),
        }
    }
}

/// A scale of a row's elements: read once when it is the same for all rows.
struct Scale<'a, T> {
    lines: &'a Lines,
    buffer: Scratch<T>,
    ready: bool,
}

impl<'a, T: Real> Scale<'a, T> {
    fn new(lines: &'a Lines, rows: &Rows) -> Result<Self, NoMemory> {
        let own = if lines.is_dense::<T>() { 0 } else { rows.len };
        Ok(Self {
            lines,
            buffer: Scratch::new([own], T::ZERO)?,
            ready: false,
        })
    }

    /// # Safety
    /// As [`Rows::load`].
    unsafe fn row(&mut self, rows: &Rows, row: usize) -> &[T] {
        if self.ready {
            return &self.buffer;
        }
        if self.lines.is_constant() && !self.lines.is_dense::<T>() {
            self.ready = true;
        }
        // SAFETY: the caller's promise.
        unsafe { rows.load(self.lines, row, &mut self.buffer) }
    }
}

unsafe fn each_row<T: Real>(job: &NormJob<'_>) -> Result<(), NoMemory> {
    let (shape, dims) = (job.shape, job.dims);
    let rows = Rows::new(shape, dims);
    let x = rows.of(job.x, shape, job.strides, dims);
    let out = rows.of(job.out, shape, job.out_strides, dims);
    let scale = |of: &Option<(Place, &[isize])>| {
        of.map(|(place, strides)| rows.of(place, shape, strides, dims))
    };
    let (weight, bias) = (scale(&job.weight), scale(&job.bias));
    let stats = Shared(job.stats.cast());
    let bytes = product([rows.count, rows.len, size_of::<T>(), 2]);
    let past = NonTemporal::of(bytes).filter(|_| out.is_dense::<T>());
    let direct = past.is_none() && out.is_dense::<T>();
    let (count, rms, eps) = (rows.len as f64, job.rms, job.eps);
    try_split(rows.count, (GRAIN / rows.len.max(1)).max(1), &|range| {
        let own = |needed: bool| Scratch::new([usize::from(needed), rows.len], T::ZERO);
        let (mut input, mut output) = (own(!x.is_dense::<T>())?, own(!direct)?);
        let weight = weight.as_ref().map(|lines| Scale::<T>::new(lines, &rows));
        let bias = bias.as_ref().map(|lines| Scale::<T>::new(lines, &rows));
        let (mut weight, mut bias) = (weight.transpose()?, bias.transpose()?);
        for index in range {
            // SAFETY: operands are readable and each row of the result is written by one task, as
            // the caller promised.
            unsafe {
                let row = rows.load(&x, index, &mut input);
                let total = |mean: T, squares| dispatch(Total { row, mean, squares });
                let mean = if rms {
                    0.0
                } else {
                    total(T::ZERO, false) / count
                };
                let variance = total(T::of(mean), true) / count;
                let stats = stats.get().cast::<f64>();
                if !stats.is_null() {
                    stats.add(2 * index).write(mean);
                    stats.add(2 * index + 1).write(variance);
                }
                let start = rows.start(&out, index);
                let to = if direct {
                    start.cast()
                } else {
                    output.as_mut_ptr()
                };
                dispatch(Apply {
                    row,
                    out: to,
                    mean: T::of(mean),
                    factor: T::of(1.0 / (variance + eps).sqrt()),
                    weight: weight.as_mut().map(|scale| scale.row(&rows, index)),
                    bias: bias.as_mut().map(|scale| scale.row(&rows, index)),
                });
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
