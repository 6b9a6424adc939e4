//! Gradients of row normalisations: first sums over a row, then its elements.
//!
//! A row is read once from memory: its sums and its result are computed while it is in the cache. Sums are accumulated
//! in lanes within a block, and in `f64` over blocks.

use std::marker::PhantomData;

use nomina_core::DType;

use super::nontemporal::NonTemporal;
use super::norm::{SHORT, slope};
use super::parallel::{GRAIN, Shared, try_split};
use super::reduce::real::{BlockFloat, total};
use super::reduce::simd::{Kernel, dispatch};
use super::rows::RowDims;
use crate::dispatch::arithmetic;
use crate::job::{RowGradient, RowGradientJob};
use crate::memory::scratch::collect;
use crate::memory::{NoMemory, Scratch};
use crate::shape::product;

/// Elements that are summed in lanes before the lanes are added to the wide sum.
const BLOCK: usize = 1024;

/// The formula of a gradient's element. It depends on the saved element, the incoming gradient, three numbers of the
/// row, and the sums or means of two terms.
trait RowFormula: Sized {
    /// Whether there are terms.
    const SUMS: bool = true;
    /// Whether the terms are averaged instead of summed.
    const MEANS: bool;
    fn terms<T: BlockFloat>(saved: T, grad: T, row: [T; 3]) -> [T; 2];
    fn last<T: BlockFloat>(saved: T, grad: T, row: [T; 3], terms: [T; 2]) -> T;
    /// Returns the sums of the terms of a row.
    fn sums<T: BlockFloat>(saved: &[T], grad: &[T], row: [T; 3]) -> [f64; 2] {
        // Rows that are not short have enough lanes that the compiler vectorises the loop over them instead of unrolling
        // it into scalar operations.
        if !Self::SUMS {
            [0.0; 2]
        } else if saved.len() < SHORT {
            dispatch(TermSums::<T, Self, 16>(saved, grad, row, PhantomData))
        } else {
            dispatch(TermSums::<T, Self, 32>(saved, grad, row, PhantomData))
        }
    }
}

/// The gradient of softmax with result y: y (g - sum(g y)).
struct SoftmaxGradient;

impl RowFormula for SoftmaxGradient {
    const MEANS: bool = false;
    #[inline(always)]
    fn terms<T: BlockFloat>(saved: T, grad: T, _: [T; 3]) -> [T; 2] {
        [grad * saved, T::ZERO]
    }
    #[inline(always)]
    fn last<T: BlockFloat>(saved: T, grad: T, _: [T; 3], [sum, _]: [T; 2]) -> T {
        (grad - sum) * saved
    }
}

/// The gradient of log-softmax with result y: g - exp(y) sum(g).
struct LogSoftmaxGradient;

impl RowFormula for LogSoftmaxGradient {
    const MEANS: bool = false;
    #[inline(always)]
    fn terms<T: BlockFloat>(_: T, grad: T, _: [T; 3]) -> [T; 2] {
        [grad, T::ZERO]
    }
    #[inline(always)]
    fn last<T: BlockFloat>(saved: T, grad: T, _: [T; 3], [sum, _]: [T; 2]) -> T {
        grad - saved.exp_nonpositive() * sum
    }
}

/// The gradient of a norm with operand x and n = (x - mean) / σ: (g - mean(g) - n mean(g n)) / σ if `CENTRED`,
/// otherwise without mean(g). The numbers of a row are the mean, 1 / σ, and the rounding error of the mean divided by
/// σ.
struct NormGradient<const CENTRED: bool>;

impl<const CENTRED: bool> NormGradient<CENTRED> {
    #[inline(always)]
    fn standard<T: BlockFloat>(saved: T, [mean, slope, off]: [T; 3]) -> T {
        if CENTRED {
            (saved - mean) * slope - off
        } else {
            saved * slope
        }
    }
}

impl<const CENTRED: bool> RowFormula for NormGradient<CENTRED> {
    const MEANS: bool = true;
    #[inline(always)]
    fn terms<T: BlockFloat>(saved: T, grad: T, row: [T; 3]) -> [T; 2] {
        let centre = if CENTRED { grad } else { T::ZERO };
        [centre, grad * Self::standard(saved, row)]
    }
    #[inline(always)]
    fn last<T: BlockFloat>(saved: T, grad: T, row: [T; 3], terms: [T; 2]) -> T {
        let grad = if CENTRED { grad - terms[0] } else { grad };
        (grad - Self::standard(saved, row) * terms[1]) * row[1]
    }
}

/// The gradient of cross entropy with logits x: exp(x - log sum exp) times a factor; both are numbers of the row.
struct EntropyGradient;

impl RowFormula for EntropyGradient {
    const SUMS: bool = false;
    const MEANS: bool = false;
    #[inline(always)]
    fn terms<T: BlockFloat>(_: T, _: T, _: [T; 3]) -> [T; 2] {
        [T::ZERO; 2]
    }
    #[inline(always)]
    fn last<T: BlockFloat>(saved: T, _: T, [log_sum, factor, _]: [T; 3], _: [T; 2]) -> T {
        (saved - log_sum).exp_nonpositive() * factor
    }
}

/// A kernel that computes the sums of a row's terms.
struct TermSums<'a, T, F, const LANES: usize>(&'a [T], &'a [T], [T; 3], PhantomData<F>);

impl<T: BlockFloat, F: RowFormula, const LANES: usize> Kernel for TermSums<'_, T, F, LANES> {
    type Out = [f64; 2];
    #[inline(always)]
    fn run(self) -> [f64; 2] {
        let mut totals = [0.0; 2];
        for (saved, grad) in self.0.chunks(BLOCK).zip(self.1.chunks(BLOCK)) {
            let mut lanes = [[T::ZERO; LANES]; 2];
            let (saved, last) = saved.as_chunks::<LANES>();
            let (grad, last_grad) = grad.as_chunks::<LANES>();
            for (saved, grad) in saved.iter().zip(grad) {
                for lane in 0..LANES {
                    let [a, b] = F::terms(saved[lane], grad[lane], self.2);
                    lanes[0][lane] += a;
                    lanes[1][lane] += b;
                }
            }
            for (lane, (&saved, &grad)) in last.iter().zip(last_grad).enumerate() {
                let [a, b] = F::terms(saved, grad, self.2);
                lanes[0][lane] += a;
                lanes[1][lane] += b;
            }
            for (sum, lanes) in totals.iter_mut().zip(&lanes) {
                *sum += total(lanes);
            }
        }
        totals
    }
}

/// A kernel that computes the gradient of a row.
struct Last<'a, T, F> {
    saved: &'a [T],
    grad: &'a [T],
    row: [T; 3],
    terms: [T; 2],
    out: *mut T,
    by: PhantomData<F>,
}

impl<T: BlockFloat, F: RowFormula> Kernel for Last<'_, T, F> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        for (i, (&saved, &grad)) in self.saved.iter().zip(self.grad).enumerate() {
            let element = F::last(saved, grad, self.row, self.terms);
            // SAFETY: the creator of this struct guarantees that the elements are writable.
            unsafe { self.out.add(i).write(element) };
        }
    }
}

/// A kernel that computes the elementwise products of two rows.
struct TermProducts<'a, T>(&'a [T], &'a [T], &'a mut [T]);

impl<T: BlockFloat> Kernel for TermProducts<'_, T> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        for (out, (&a, &b)) in self.2.iter_mut().zip(self.0.iter().zip(self.1)) {
            *out = a * b;
        }
    }
}

/// Computes the gradients of rows.
///
/// # Safety
/// The operands and the result are in bounds, and nobody else accesses the result meanwhile.
pub(crate) unsafe fn execute(job: &RowGradientJob<'_>) -> Result<(), NoMemory> {
    // SAFETY: guaranteed by the caller.
    unsafe {
        match arithmetic(job.compute) {
            DType::F64 => compute::<f64>(job),
            _ => compute::<f32>(job),
        }
    }
}

unsafe fn compute<T: BlockFloat>(job: &RowGradientJob<'_>) -> Result<(), NoMemory> {
    // SAFETY: guaranteed by the caller.
    unsafe {
        match job.by {
            RowGradient::Softmax => each_row::<T, SoftmaxGradient>(job),
            RowGradient::LogSoftmax => each_row::<T, LogSoftmaxGradient>(job),
            RowGradient::Entropy => each_row::<T, EntropyGradient>(job),
            RowGradient::Norm { rms: false, .. } => each_row::<T, NormGradient<true>>(job),
            RowGradient::Norm { rms: true, .. } => each_row::<T, NormGradient<false>>(job),
        }
    }
}

/// Returns whether a row's slope and sums stayed in the range of `T`.
fn is_ordinary<T: BlockFloat>(slope: f64, sums: [f64; 2]) -> bool {
    let ends = T::LEAST_SQUARE..1.0 / T::LEAST_SQUARE;
    ends.contains(&slope) && sums.iter().all(|sum| sum.is_finite())
}

/// Computes a row in `f64`.
///
/// # Safety
/// The result is writable for the length of the row.
#[cold]
#[inline(never)]
unsafe fn again<T: BlockFloat, F: RowFormula>(
    row: [&[T]; 2],
    [mean, slope, _]: [f64; 3],
    count: f64,
    out: *mut T,
) -> Result<(), NoMemory> {
    let wide = |xs: &[T]| collect(xs.iter().map(|x| x.wide()));
    let (saved, grad) = (wide(row[0])?, wide(row[1])?);
    let row = [mean, slope, 0.0];
    let sums = F::sums(&saved, &grad, row);
    for (i, (&saved, &grad)) in saved.iter().zip(&grad).enumerate() {
        let element = F::last(saved, grad, row, sums.map(|sum| sum / count));
        // SAFETY: guaranteed by the caller.
        unsafe { out.add(i).write(T::from_f64(element)) };
    }
    Ok(())
}

unsafe fn each_row<T: BlockFloat, F: RowFormula>(job: &RowGradientJob<'_>) -> Result<(), NoMemory> {
    let (shape, dims) = (job.shape, job.dims);
    let rows = RowDims::new(shape, dims);
    let of = |(place, strides)| rows.layout(place, shape, strides, dims);
    let (saved, grad, out) = (of(job.saved), of(job.grad), of(job.out));
    let weight = job.weight.map(of);
    let numbers = Shared(job.numbers.cast_mut().cast());
    let eps = match job.by {
        RowGradient::Norm { eps, .. } => Some(eps),
        _ => None,
    };
    let bytes = product([rows.count, rows.len, size_of::<T>(), 3]);
    let past = NonTemporal::for_bytes(bytes).filter(|_| out.is_dense::<T>());
    let direct = past.is_none() && out.is_dense::<T>();
    try_split(rows.count, (GRAIN / rows.len.max(1)).max(1), &|range| {
        let own = |needed: bool| Scratch::new([usize::from(needed), rows.len], T::ZERO);
        let mut input = own(!saved.is_dense::<T>())?;
        let mut given = own(!grad.is_dense::<T>())?;
        let mut output = own(!direct)?;
        let scale = weight.as_ref().filter(|weight| !weight.is_dense::<T>());
        let (mut factors, mut products) = (own(scale.is_some())?, own(weight.is_some())?);
        for index in range {
            // SAFETY: operands are readable and each row of the result is written by one task, as the caller
            // guarantees.
            unsafe {
                let saved = rows.load(&saved, index, &mut input);
                let mut grad = rows.load(&grad, index, &mut given);
                if let Some(weight) = &weight {
                    let weight = rows.load(weight, index, &mut factors);
                    dispatch(TermProducts(grad, weight, &mut products));
                    grad = &products;
                }
                let mut row = [0.0; 3];
                let numbers = numbers.get().cast::<f64>();
                if !numbers.is_null() {
                    let [a, b] = [*numbers.add(2 * index), *numbers.add(2 * index + 1)];
                    // For a norm the two numbers are the mean and the deviation.
                    let b = eps.map_or(b, |eps| slope(b, eps));
                    row = [a, b, (a - T::from_f64(a).wide()) * b];
                }
                let count = if F::MEANS { rows.len as f64 } else { 1.0 };
                let start = rows.start(&out, index);
                let to = if direct {
                    start.cast()
                } else {
                    output.as_mut_ptr()
                };
                let narrow = row.map(T::from_f64);
                let sums = F::sums(saved, grad, narrow);
                let odd = eps.is_some() && !is_ordinary::<T>(row[1], sums);
                if odd && T::DTYPE != DType::F64 {
                    again::<T, F>([saved, grad], row, count, to)?;
                } else {
                    dispatch(Last {
                        saved,
                        grad,
                        row: narrow,
                        terms: sums.map(|sum| T::from_f64(sum / count)),
                        out: to,
                        by: PhantomData::<F>,
                    });
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
