//! Convolution row by row: each element of the kernel times a row of the input is added to a row of
//! the result.

use std::marker::PhantomData;
use std::ops::Range;

use super::number::{ConvNumber, Widen};
use super::{positions, taps};
use crate::job::ConvJob;

use crate::cpu::gemm::epilogue::Epilogue;
use crate::cpu::parallel::try_split;
use crate::cpu::reduce::simd::{Kernel, dispatch};
use crate::memory::{NoMemory, Scratch};

/// The number of multiplications for which a thread pays.
const GRAIN: usize = 1 << 15;

/// Runs a convolution whose result is row-major.
///
/// # Safety
/// The requirements of [`super::convolve::execute`].
pub(super) unsafe fn convolve<S: Widen<A>, A: ConvNumber>(
    job: &ConvJob<'_>,
) -> Result<(), NoMemory> {
    let [d, h, w] = &job.windows;
    let rows = job.batch * job.groups * job.outs * d.out * h.out;
    let work = w.out * job.channels * taps(&job.windows);
    try_split(rows, GRAIN / work.max(1), &|range| {
        let mut sums = Scratch::new([w.out], A::ZERO)?;
        // The part of a row that each tap of the kernel reads.
        let mut spans = Scratch::new([w.kernel], (0, 0))?;
        for (kx, span) in spans.iter_mut().enumerate() {
            let inside = w.inside(kx);
            *span = (inside.start, inside.end);
        }
        dispatch(DirectRows::<S, A> {
            job,
            range,
            sums: &mut sums,
            spans: &spans,
            elements: PhantomData,
        });
        Ok(())
    })
}

/// Some rows of the result.
struct DirectRows<'a, S, A> {
    job: &'a ConvJob<'a>,
    range: Range<usize>,
    sums: &'a mut [A],
    spans: &'a [(usize, usize)],
    elements: PhantomData<S>,
}

impl<S: Widen<A>, A: ConvNumber> Kernel for DirectRows<'_, S, A> {
    type Out = ();

    #[inline(always)]
    fn run(self) {
        let job = self.job;
        let [d, h, w] = &job.windows;
        let (all, depth) = (job.groups * job.outs, job.channels * taps(&job.windows));
        let step = w.step(job.x_strides[4]);
        let rows = self.range.clone();
        for row in self.range {
            let (oy, oz) = (row % h.out, row / h.out % d.out);
            let unit = row / (h.out * d.out);
            let (o, n) = (unit % all, unit / all);
            // SAFETY: there is a bias for each channel.
            let start = job
                .bias
                .map_or(A::ZERO, |bias| unsafe { bias.cast::<A>().add(o).read() });
            self.sums.fill(start);
            let first = (o / job.outs * job.channels) as isize * job.x_strides[1];
            let plane = n as isize * job.x_strides[0] + first;
            let mut weight = job.weight.cast::<A>().wrapping_add(o * depth);
            for channel in 0..job.channels as isize {
                for kz in 0..d.kernel {
                    for ky in 0..h.kernel {
                        let Some((z, y)) = d.at(oz, kz).zip(h.at(oy, ky)) else {
                            weight = weight.wrapping_add(w.kernel);
                            continue;
                        };
                        let line = plane
                            + channel * job.x_strides[1]
                            + z as isize * job.x_strides[2]
                            + y as isize * job.x_strides[3];
                        let line = job.x.cast::<S>().wrapping_offset(line);
                        for (kx, &(start, end)) in self.spans.iter().enumerate() {
                            if start >= end {
                                continue;
                            }
                            let at = start * w.stride + kx * w.dilation - w.before;
                            let from = line.wrapping_offset(at as isize * job.x_strides[4]);
                            let sums = &mut self.sums[start..end];
                            // SAFETY: the weight has an element for each tap; the span holds the
                            // positions at which this tap is an element of the row.
                            unsafe { add(sums, weight.add(kx).read(), from, step) };
                        }
                        weight = weight.wrapping_add(w.kernel);
                    }
                }
            }
            let at = n as isize * job.out_strides[0]
                + o as isize * job.out_strides[1]
                + ((oz * h.out + oy) * w.out) as isize * job.out_strides[2];
            let out = job.out.cast::<S>().wrapping_offset(at);
            debug_assert!(positions(&job.windows) > 0);
            for (i, &sum) in self.sums.iter().enumerate() {
                // SAFETY: this task owns the row.
                unsafe {
                    out.wrapping_offset(i as isize * job.out_strides[2])
                        .write(S::down(sum));
                }
            }
        }
        if let Some(after) = job.after.and_then(|op| Epilogue::of_dtype(op, job.dtype)) {
            // The rows are adjacent.
            let first = job.out.cast::<S>().wrapping_add(rows.start * w.out);
            // SAFETY: this task owns the rows.
            unsafe { after.rows(first.cast(), w.out as isize, rows.len(), w.out) };
        }
    }
}

/// Adds `weight` times a row whose elements are `step` apart.
#[inline(always)]
unsafe fn add<S: Widen<A>, A: ConvNumber>(sums: &mut [A], weight: A, from: *const S, step: isize) {
    if step == 1 {
        for (i, sum) in sums.iter_mut().enumerate() {
            // SAFETY: guaranteed by the caller.
            let x = unsafe { from.add(i).read() };
            *sum = sum.plus(weight.times(x.up()));
        }
    } else {
        for (i, sum) in sums.iter_mut().enumerate() {
            // SAFETY: guaranteed by the caller.
            let x = unsafe { from.wrapping_offset(i as isize * step).read() };
            *sum = sum.plus(weight.times(x.up()));
        }
    }
}
