//! Convolution as a product of the weight, which is packed once, and the elements under the windows, which are packed
//! into panels or read in place.

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;

use super::kept::{kept, pack};
use super::number::{ConvNumber, Widen, compute};
use super::planes::{PlaneLayout, WindowPanels, fill};
use super::share::{Sizes, Tasks};
use super::{group_product, locate, positions, taps};
use crate::cpu::cast::Cast;
use crate::cpu::gemm::indirect::{Seen, part_of_line};
use crate::cpu::gemm::lowered::TileShape;
use crate::cpu::parallel::{Shared, threads, try_each};
use crate::cpu::reduce::split::SmallScratch;
use crate::job::{ConvJob, Matrix, PackOrder, Packed};
use crate::memory::{self, NoMemory, Scratch};
use crate::shape;

/// Bytes of the planes that are filled at once.
pub(super) const PLANES: usize = 4 << 20;
/// The number of multiplications for which a second thread pays.
pub(super) const PARALLEL: usize = 1 << 18;

/// The number of times up to which a weight is packed anew in parts, which stay cached, rather than once as a whole.
const OFTEN: usize = 2;

/// Runs a convolution whose channels are not innermost. Returns whether it did: not if zeros would be most of the
/// planes.
///
/// # Safety
/// The requirements of [`super::convolve::execute`].
pub(super) unsafe fn convolve<S: Widen<A>, A: ConvNumber>(
    job: &ConvJob<'_>,
) -> Result<bool, NoMemory> {
    if job.channels_last {
        return Ok(false);
    }
    let Some(layout) = PlaneLayout::new(&job.windows)? else {
        return Ok(false);
    };
    let depth = shape::product([job.channels, taps(&job.windows)]);
    let positions = positions(&job.windows);
    let units = shape::product([job.batch, job.groups]);
    let work = shape::product([units, job.outs, depth, positions]);
    let threads = if work < PARALLEL { 1 } else { threads() };
    let tile = TileShape::for_dtype(compute(job.dtype));
    let sizes = Sizes {
        units,
        outs: job.outs,
        depth,
        positions,
        line: match &job.windows {
            // A single line has parts.
            [d, h, w] if shape::product([d.out, h.out]) == 1 => part_of_line(w.out, tile.rows),
            [.., w] => w.out,
        },
        element: size_of::<A>(),
    };
    let tasks = Tasks::new(sizes, tile, threads);
    let (order, steps) = if tasks.indirect {
        (PackOrder::Panels, Some(layout.steps(job.channels)?))
    } else {
        (PackOrder::Rows, None)
    };
    // The number of times that tasks would pack a group's weight.
    let [across, _] = tasks.grid(sizes);
    let often = shape::product([job.batch, across]) > OFTEN;
    // SAFETY: guaranteed by the caller.
    let pack = || unsafe { pack(job, order, threads) };
    let kept = kept(job, order, pack)?;
    let own = match kept {
        Some(_) => Vec::new(),
        None if often => pack()?,
        None => memory::scratch::collect((0..job.groups).map(|_| Packed::later(order)))?,
    };
    let whole = PanelConv::<S, A> {
        job,
        layout: &layout,
        sizes,
        tasks,
        weights: kept.unwrap_or(&own),
        steps: steps.as_deref().unwrap_or_default(),
        elements: PhantomData,
    };
    // The number of units at a time that stay cached.
    let unit = shape::product([layout.room(job.channels), size_of::<A>()]);
    let at_once = (PLANES / unit).clamp(1, units.max(1));
    let mut planes =
        Scratch::<MaybeUninit<A>>::uninit([layout.room(shape::product([job.channels, at_once]))])?;
    for first in (0..units).step_by(at_once) {
        let these = first..units.min(first + at_once);
        // SAFETY: there is room for this number of units.
        unsafe { whole.units(these, planes.as_mut_ptr().cast(), threads)? };
    }
    Ok(true)
}

/// A convolution, and the data shared by its tasks.
struct PanelConv<'a, S, A> {
    job: &'a ConvJob<'a>,
    layout: &'a PlaneLayout<'a>,
    sizes: Sizes,
    tasks: Tasks,
    /// The weight of each group.
    weights: &'a [Packed],
    /// The offset of each channel and tap, if the input is read in place.
    steps: &'a [usize],
    elements: PhantomData<(S, A)>,
}

// SAFETY: addresses and numbers; each task writes to its own part of the result.
unsafe impl<S, A> Sync for PanelConv<'_, S, A> {}

impl<S: Widen<A>, A: ConvNumber> PanelConv<'_, S, A> {
    /// Computes some units on `threads` threads; `planes` has room for them.
    ///
    /// # Safety
    /// The requirements of [`convolve`].
    unsafe fn units(
        &self,
        units: Range<usize>,
        planes: *mut A,
        threads: usize,
    ) -> Result<(), NoMemory> {
        let (job, layout) = (self.job, self.layout);
        // SAFETY: guaranteed by the caller.
        unsafe { fill::<S, A>(job, layout, units.clone(), planes, threads) };
        let shared = Shared(planes.cast());
        let [across, down] = self.tasks.grid(self.sizes);
        let task = |task: usize| {
            let (at, part) = (task / (across * down), task % (across * down));
            let planes = at * job.channels * layout.channel;
            let planes = shared.get().cast::<A>().wrapping_add(planes);
            // SAFETY: each task owns its part of the result.
            unsafe { self.part(units.start + at, [part / down, part % down], planes) }
        };
        let tasks = units.len() * across * down;
        if threads == 1 {
            return (0..tasks).try_for_each(task);
        }
        try_each(tasks, &task)
    }

    /// Computes some positions and outputs of a unit.
    ///
    /// # Safety
    /// The requirements of [`convolve`]; the planes are the unit's.
    unsafe fn part(
        &self,
        unit: usize,
        [across, down]: [usize; 2],
        planes: *const A,
    ) -> Result<(), NoMemory> {
        let job = self.job;
        let from = across * self.tasks.positions;
        let count = self.tasks.positions.min(self.sizes.positions - from);
        let first = down * self.tasks.outs;
        let rows = first..job.outs.min(first + self.tasks.outs);
        // 16-bit results are computed in a wider buffer and rounded.
        let narrow = Cast::new(compute(job.dtype), job.dtype);
        let [element, size] = narrow.sizes();
        let (_, mut out) = locate(job, unit);
        out.ptr = out.ptr.wrapping_offset(from as isize * out.cols * size);
        let widens = usize::from(!narrow.copies());
        let mut wide = SmallScratch::bytes([widens, rows.len(), count, size_of::<A>()])?;
        let wide = wide.as_mut_ptr();
        let group = unit % job.groups;
        let mut product = group_product(job, group);
        product.n = count;
        product.c = if narrow.copies() {
            out
        } else {
            Matrix {
                ptr: wide.cast::<A>().wrapping_sub(rows.start * count).cast(),
                rows: count as isize,
                cols: 1,
            }
        };
        let weight = &self.weights[group];
        // SAFETY: the planes have the elements under the windows at all positions; the matrices have the strides
        // computed above.
        unsafe {
            if self.tasks.indirect {
                let seen = Seen {
                    first: planes.cast(),
                    steps: self.steps,
                    place: &|position| self.layout.place(position),
                    length: job.windows[2].out,
                };
                weight.indirect(&product, rows.clone(), from..from + count, &seen)?;
            } else {
                let seen = WindowPanels {
                    layout: self.layout,
                    planes,
                    from,
                };
                weight.lowered(&product, rows.clone(), &seen)?;
            }
            if !narrow.copies() {
                for (i, row) in rows.enumerate() {
                    let from = wide.wrapping_offset((i * count) as isize * element);
                    let to = out.ptr.wrapping_offset(row as isize * out.rows * size);
                    narrow.run(count, from, element, to, out.cols * size);
                }
            }
        }
        Ok(())
    }
}
