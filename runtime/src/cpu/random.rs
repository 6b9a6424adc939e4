//! Random numbers from the generators.

use std::sync::atomic::{AtomicUsize, Ordering};

use nomina_core::{DType, Result};

use super::cast::Cast;
use super::fill::{BLOCK, by_block};
use super::parallel::{GRAIN, Missing, Shared, split};
use super::parallel_sort;
use super::simd::{level, levels};
use crate::dispatch::arithmetic;
use crate::job::{Drawn, Multinomial, Place};

use crate::memory::{NoMemory, Scratch};
use crate::random::poisson::poisson;
use crate::random::{Distribution, Draw, Stream};
use crate::shape::product;

/// Writes random numbers. The number of element `i` depends only on the draw and `i`.
///
/// # Safety
/// `n` contiguous elements at `dest` are writable.
// The functions compiled per level are safe.
#[allow(unused_unsafe)]
pub(crate) unsafe fn random(n: usize, dest: Place, draw: &Draw) {
    let as_parts = |dtype| Place { dtype, ..dest };
    let floats = levels!(fn(draw: &Draw, start: usize, out: &mut [f32; BLOCK]) {
        draw.floats(start, out)
    })[level() as usize];
    let doubles = levels!(fn(draw: &Draw, start: usize, out: &mut [f64; BLOCK]) {
        draw.doubles(start, out)
    })[level() as usize];
    let flags = levels!(fn(draw: &Draw, p: f64, start: usize, out: &mut [bool; BLOCK]) {
        draw.flags(p, start, out)
    })[level() as usize];
    // SAFETY: the level is one of this machine; a complex number is two adjacent real ones; the
    // rest is guaranteed by the caller.
    unsafe {
        match draw.what {
            Distribution::Bernoulli { p } => by_block(n, dest, DType::Bool, &|start, out| {
                flags(draw, p, start, out)
            }),
            Distribution::Integers { low, high } => by_block(n, dest, DType::I64, &|start, out| {
                draw.integers(low, high, start, out)
            }),
            Distribution::Geometric { .. } => {
                by_block(n, dest, DType::F64, &|start, out| doubles(draw, start, out))
            }
            Distribution::Uniform { .. }
            | Distribution::Normal { .. }
            | Distribution::LogNormal { .. }
            | Distribution::Exponential { .. }
            | Distribution::Cauchy { .. } => match dest.dtype {
                DType::F64 => {
                    by_block(n, dest, DType::F64, &|start, out| doubles(draw, start, out))
                }
                DType::C64 => by_block(
                    product([2, n]),
                    as_parts(DType::F32),
                    DType::F32,
                    &|start, out| floats(draw, start, out),
                ),
                DType::C128 => by_block(
                    product([2, n]),
                    as_parts(DType::F64),
                    DType::F64,
                    &|start, out| doubles(draw, start, out),
                ),
                other => {
                    debug_assert_eq!(arithmetic(other), DType::F32, "checked by the caller");
                    by_block(n, dest, DType::F32, &|start, out| floats(draw, start, out));
                }
            },
        }
    }
}

/// Reads the parameters of a block as `f64` and returns their number.
///
/// # Safety
/// The elements from `start` to `n` are readable.
unsafe fn read(cast: &Cast, of: Place, n: usize, start: usize, out: &mut [f64; BLOCK]) -> usize {
    let count = BLOCK.min(n - start);
    let size = of.dtype.size();
    // SAFETY: there are `count` elements, and room for them.
    unsafe {
        let source = of.ptr.add(start * size);
        cast.run(count, source, size as isize, out.as_mut_ptr().cast(), 8);
    }
    count
}

/// Writes random numbers of distributions whose parameters are the elements of `of`.
///
/// # Safety
/// `n` contiguous elements are writable at `dest` and readable at `of`.
pub(crate) unsafe fn random_of(
    n: usize,
    dest: Place,
    of: Place,
    what: Drawn,
    words: &Stream,
) -> Result<()> {
    let cast = Cast::new(of.dtype, DType::F64);
    let of = (Shared(of.ptr), of.dtype);
    // The last element with an invalid parameter, counted from 1.
    let wrong = AtomicUsize::new(0);
    let parameters = |start: usize, valid: &dyn Fn(f64) -> bool| {
        let mut values = [0.0; BLOCK];
        let place = Place {
            ptr: of.0.get(),
            dtype: of.1,
        };
        // SAFETY: guaranteed by the caller.
        let count = unsafe { read(&cast, place, n, start, &mut values) };
        if let Some(at) = values[..count].iter().position(|&value| !valid(value)) {
            wrong.fetch_max(start + at + 1, Ordering::Relaxed);
            return None;
        }
        Some((values, count))
    };
    // SAFETY: guaranteed by the caller.
    unsafe {
        match what {
            Drawn::Bernoulli => by_block(n, dest, DType::Bool, &|start, out| {
                if let Some((p, _)) = parameters(start, &|p| (0.0..=1.0).contains(&p)) {
                    words.flags_of(&p, start, out);
                }
            }),
            Drawn::Poisson => by_block(n, dest, DType::F64, &|start, out| {
                if let Some((rates, count)) = parameters(start, &|rate| rate >= 0.0) {
                    for i in 0..count {
                        out[i] = poisson(words, start + i, rates[i]);
                    }
                }
            }),
        }
    }
    match wrong.into_inner() {
        0 => Ok(()),
        at => Err(what.refused(at - 1)),
    }
}

/// Writes the numbers below `n` in random order: sorted by 64 random bits, then by value.
///
/// # Safety
/// `n` contiguous elements at `dest` are writable.
pub(crate) unsafe fn permutation(n: usize, dest: Place, words: &Stream) -> Result<(), NoMemory> {
    let mut keys = Scratch::new([n], 0_u128)?;
    let first = Shared(keys.as_mut_ptr().cast());
    split(n, GRAIN / 4, &|range| {
        for i in range {
            let key = u128::from(words.bits(i)) << 64 | i as u128;
            // SAFETY: an element of the scratch that no other range writes to.
            unsafe { first.get().cast::<u128>().add(i).write(key) };
        }
    });
    parallel_sort::sort(&mut keys);
    // SAFETY: guaranteed by the caller.
    unsafe {
        by_block(n, dest, DType::I64, &|start, out| {
            for (out, &key) in out.iter_mut().zip(&keys[start..]) {
                *out = key as i64;
            }
        });
    }
    Ok(())
}

/// Draws indices by weight from each row.
///
/// # Safety
/// The weights are readable, and `rows * samples` contiguous elements of `i64` at `dest` are
/// writable.
pub(crate) unsafe fn multinomial(job: &Multinomial) -> Result<()> {
    let cast = Cast::new(job.weights.dtype, DType::F64);
    let (weights, dest) = (Shared(job.weights.ptr), Shared(job.dest.ptr));
    let (size, wide) = (job.weights.dtype.size(), job.categories);
    let (samples, replacement, words) = (job.samples, job.replacement, &job.words);
    let (wrong, missing) = (AtomicUsize::new(0), Missing::new());
    let grain = (GRAIN / 16 / wide.max(job.samples).max(1)).max(1);
    let some = |range: std::ops::Range<usize>| -> Result<(), NoMemory> {
        let mut row = Scratch::new([wide], 0.0_f64)?;
        let mut times = Scratch::new([usize::from(!replacement), wide], (0.0_f64, 0_usize))?;
        for at in range {
            // SAFETY: the row's weights and its samples, which no other range writes to.
            let out = unsafe {
                let source = weights.get().add(product([at, wide, size]));
                cast.run(wide, source, size as isize, row.as_mut_ptr().cast(), 8);
                let first = dest.get().cast::<i64>().add(product([at, samples]));
                first.write_bytes(0, samples);
                std::slice::from_raw_parts_mut(first, samples)
            };
            let drawn = if replacement {
                repeated(&mut row, words, product([at, samples]), out)
            } else {
                distinct(&row, &mut times, words, product([at, wide]), out)
            };
            if drawn.is_none() {
                wrong.fetch_max(at + 1, Ordering::Relaxed);
            }
        }
        Ok(())
    };
    split(job.rows, grain, &|range| missing.attempt(|| some(range)));
    missing.result().map_err(|e| e.in_op("multinomial"))?;
    match wrong.into_inner() {
        0 => Ok(()),
        at => Err(Multinomial::refused(at - 1, samples)),
    }
}

/// Draws with replacement by binary search in the cumulative sums, which overwrite the weights.
fn repeated(row: &mut [f64], words: &Stream, first: usize, out: &mut [i64]) -> Option<()> {
    let mut total = 0.0;
    let mut last = None;
    for (i, weight) in row.iter_mut().enumerate() {
        if !(*weight >= 0.0 && weight.is_finite()) {
            return None;
        }
        if *weight > 0.0 {
            last = Some(i);
        }
        total += *weight;
        *weight = total;
    }
    let last = last?;
    for (i, out) in out.iter_mut().enumerate() {
        // Below the total except for rounding.
        let place = (1.0 - words.unit(first + i)) * total;
        *out = row.partition_point(|&sum| sum <= place).min(last) as i64;
    }
    Some(())
}

/// Draws without replacement: gives each index an exponential waiting time with its weight as the
/// rate, and returns the earliest in order.
fn distinct(
    row: &[f64],
    times: &mut [(f64, usize)],
    words: &Stream,
    first: usize,
    out: &mut [i64],
) -> Option<()> {
    use crate::random::function::SampleMath;
    let mut count = 0;
    for (i, &weight) in row.iter().enumerate() {
        if !(weight >= 0.0 && weight.is_finite()) {
            return None;
        }
        if weight > 0.0 {
            times[count] = (-words.unit(first + i).natural_log() / weight, i);
            count += 1;
        }
    }
    if count < out.len() {
        return None;
    }
    let mut times = &mut times[..count];
    let order = |a: &(f64, usize), b: &(f64, usize)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
    if out.len() < times.len() {
        times.select_nth_unstable_by(out.len(), order);
        times = &mut times[..out.len()];
    }
    times.sort_unstable_by(order);
    for (out, (_, place)) in out.iter_mut().zip(times) {
        *out = *place as i64;
    }
    Some(())
}
