//! Convolution by tiles that read the padded input in place. Nothing is packed, which pays for few outputs, and for few
//! elements under the window.

use std::mem::MaybeUninit;
use std::ops::Range;

use nomina_core::DType;

use super::number::{ConvNumber, Widen};
use super::panels::{PARALLEL, PLANES};
use super::planes::{PlaneLayout, fill};
use super::{group_product, taps};
use crate::cpu::gemm::indirect::Seen;
use crate::cpu::gemm::lowered::sliding;
use crate::cpu::parallel::{Shared, threads, try_each, try_split};
use crate::job::{ConvJob, Matrix};
use crate::memory::{NoMemory, Scratch};
use crate::shape::product;

/// The most outputs of a group that gain.
const FEW: usize = 8;
/// The most elements under the window with which more outputs gain.
const SHALLOW: usize = 32;
/// The fewest positions of a line that fill enough of a vector, with more than one element for each output.
const LINE: usize = 8;
/// Tasks per thread.
const TASKS: usize = 4;

/// Runs a convolution of `f32` or `f64`. Returns whether it did: not if another way is faster, or if zeros would be most of
/// the planes.
///
/// # Safety
/// The requirements of [`super::convolve::execute`].
pub(super) unsafe fn convolve<A: ConvNumber + Widen<A>>(
    job: &ConvJob<'_>,
) -> Result<bool, NoMemory> {
    let depth = product([job.channels, taps(&job.windows)]);
    let [d, h, w] = &job.windows;
    let lines = product([d.out, h.out]);
    let gains = job.channels == 1 && job.outs == 1
        || w.out >= LINE && (job.outs <= FEW || depth <= SHALLOW);
    let units = product([job.batch, job.groups]);
    let work = product([units, job.outs, depth, lines, w.out]);
    // Tiles that read in place are slow in unoptimised builds.
    let slow = cfg!(unoptimized) && work >= 8 * PARALLEL;
    if !matches!(job.dtype, DType::F32 | DType::F64) || job.channels_last || !gains || slow {
        return Ok(false);
    }
    let Some(layout) = PlaneLayout::new(&job.windows)? else {
        return Ok(false);
    };
    let steps = layout.steps(job.channels)?;
    let conv = SlidingConv {
        job,
        layout: &layout,
        steps: &steps,
    };
    let threads = if work < PARALLEL { 1 } else { threads() };
    let room = layout.room(job.channels);
    if threads == 1 || units >= TASKS * threads {
        // Each task fills the planes of a unit, which stay cached, and uses them.
        let some = |range: Range<usize>| {
            let mut planes = Scratch::<MaybeUninit<A>>::uninit([room])?;
            let planes = planes.as_mut_ptr().cast::<A>();
            for unit in range {
                // SAFETY: guaranteed by the caller; there is room for a unit.
                unsafe {
                    fill::<A, A>(job, &layout, unit..unit + 1, planes, 1);
                    conv.lines::<A>(unit, 0..lines, planes);
                }
            }
            Ok(())
        };
        if threads == 1 {
            some(0..units)?;
        } else {
            try_split(units, 1, &some)?;
        }
        return Ok(true);
    }
    // The number of units at a time that stay cached.
    let at_once = (PLANES / product([room, size_of::<A>()])).clamp(1, units.max(1));
    let mut planes =
        Scratch::<MaybeUninit<A>>::uninit([layout.room(product([job.channels, at_once]))])?;
    let planes = planes.as_mut_ptr().cast::<A>();
    let shared = Shared(planes.cast());
    for first in (0..units).step_by(at_once) {
        let count = at_once.min(units - first);
        // SAFETY: as above.
        unsafe { fill::<A, A>(job, &layout, first..first + count, planes, threads) };
        let parts = (TASKS * threads).div_ceil(count).min(lines.max(1));
        try_each(count * parts, &|task| {
            let (at, part) = (task / parts, task % parts);
            let some = lines * part / parts..lines * (part + 1) / parts;
            let planes = shared.get().cast::<A>();
            let planes = planes.wrapping_add(at * job.channels * layout.channel);
            // SAFETY: each task owns its lines of the result.
            unsafe { conv.lines::<A>(first + at, some, planes) };
            Ok(())
        })?;
    }
    Ok(true)
}

/// A convolution, and the data shared by its tasks.
struct SlidingConv<'a> {
    job: &'a ConvJob<'a>,
    layout: &'a PlaneLayout<'a>,
    /// The offset of each channel and tap.
    steps: &'a [usize],
}

impl SlidingConv<'_> {
    /// Computes some lines of a unit and applies the epilogue.
    ///
    /// # Safety
    /// The requirements of [`convolve`]; the planes are the unit's, and nobody else uses these lines of the result.
    unsafe fn lines<A>(&self, unit: usize, lines: Range<usize>, planes: *const A) {
        let (job, length) = (self.job, self.job.windows[2].out);
        let (n, group) = (unit / job.groups, unit % job.groups);
        let [batch, out, _] = job.out_strides;
        let first = n as isize * batch + (group * job.outs) as isize * out;
        let first = job.out.cast::<A>().wrapping_offset(first);
        let mut product = group_product(job, group);
        product.n = lines.len() * length;
        product.c = Matrix {
            ptr: first.wrapping_add(lines.start * length).cast(),
            rows: out,
            cols: 1,
        };
        let seen = Seen {
            first: planes.cast(),
            steps: self.steps,
            place: &|position| self.layout.place(position),
            length,
        };
        // SAFETY: the planes have the elements of the lines in each step; positions of the result are contiguous.
        unsafe { sliding(&product, lines, &seen) };
    }
}

// SAFETY: addresses and numbers; each task writes to its own lines of the result.
unsafe impl Sync for SlidingConv<'_> {}
