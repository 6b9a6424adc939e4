//! Copies of whole operands.

use std::mem::MaybeUninit;
use std::ops::Range;

use nomina_core::DType;

use super::Cast;
use crate::job::Place;

use crate::cpu::nontemporal::{self, NonTemporal};
use crate::cpu::parallel::{GRAIN, Shared, each, split};
use crate::plan::{Dim, Plan};
use crate::shape::{product, scaled_stride};

/// The side of a tile if one operand steps across the other: the cache lines of a tile stay in the
/// first-level cache.
const TILE: usize = 32;

/// Copies operand 1 of a plan to operand 0, converting elements.
///
/// # Safety
/// The plan's positions of `dest` are writable and distinct. Those of `source` are readable, valid
/// for its dtype, and not positions of `dest`.
pub(crate) unsafe fn copy(plan: &Plan, dest: Place, source: Place) {
    let (cast, from) = (Cast::new(source.dtype, dest.dtype), source.dtype);
    let dest_dtype = dest.dtype;
    let (dest, source) = (Shared(dest.ptr), Shared(source.ptr));
    if let [inner, outer, rest @ ..] = plan.dims()
        && crosses(inner, outer, from)
    {
        let moved = from.size() + dest_dtype.size();
        // Whole cache lines only: the rows of a tile are a few lines.
        let line = |step: isize| step % 64 == 0;
        let past = NonTemporal::for_bytes(product([plan.numel(), moved])).filter(|_| {
            inner.steps[0] == dest_dtype.size() as isize
                && line(dest.get().addr() as isize)
                && line(scaled_stride(TILE as isize, dest_dtype.size()))
                && line(outer.steps[0])
                && rest.iter().all(|dim| line(dim.steps[0]))
        });
        let keep = Cast::new(dest_dtype, dest_dtype);
        // SAFETY: the same positions, in another order.
        unsafe { tiles([&cast, &keep], past, [inner, outer], rest, dest, source) };
        return;
    }
    let [to_step, from_step, ..] = plan.inner().steps;
    let (moved, to_size) = (from.size() + dest_dtype.size(), dest_dtype.size() as isize);
    // For copies without conversion, the C library's `memcpy` already uses non-temporal stores.
    let past = NonTemporal::for_bytes(product([plan.numel(), moved])).filter(|_| {
        !cast.copies() && to_step == to_size && plan.inner().size >= nontemporal::BLOCK
    });
    split(plan.numel(), GRAIN, &|range| {
        let (mut walk, mut left) = (plan.walk(range.start), range.len());
        while left > 0 {
            let (n, [to_offset, from_offset, ..]) = walk.take(left);
            // SAFETY: a run of the plan; ranges share no position of `dest`.
            unsafe {
                let (source, dest) = (
                    source.get().offset(from_offset),
                    dest.get().offset(to_offset),
                );
                match past {
                    None => cast.run(n, source, from_step, dest, to_step),
                    Some(past) => passing(&cast, past, n, source, from_step, dest),
                }
            }
            left -= n;
        }
        if let Some(past) = past {
            past.settle();
        }
    });
}

/// Converts `n` elements to a contiguous destination by non-temporal stores.
///
/// # Safety
/// The requirements of [`Cast::run`].
unsafe fn passing(
    cast: &Cast,
    past: NonTemporal,
    n: usize,
    source: *const u8,
    step: isize,
    dest: *mut u8,
) {
    let [_, size] = cast.sizes();
    let mut block =
        [const { MaybeUninit::<u128>::uninit() }; nontemporal::BLOCK / size_of::<u128>()];
    let block = block.as_mut_ptr().cast::<u8>();
    let mut at = 0;
    while at < n {
        // SAFETY: elements of the run; the block has room for them.
        unsafe {
            let to = dest.offset(at as isize * size);
            let part = NonTemporal::until_block(to, size as usize, n - at);
            cast.run(part, source.offset(at as isize * step), step, block, size);
            past.copy(block, to, part * size as usize);
            at += part;
        }
    }
}

/// Returns whether the source is contiguous along the second dim and not along the first.
fn crosses(inner: &Dim, outer: &Dim, from: DType) -> bool {
    let size = from.size() as isize;
    inner.steps[1].abs() > size && outer.steps[1].abs() == size && inner.size.min(outer.size) >= 4
}

/// Copies tile by tile over the first two dims, for every index of the others. `keep` copies
/// elements that are already converted.
///
/// # Safety
/// The requirements of [`copy`].
unsafe fn tiles(
    [cast, keep]: [&Cast; 2],
    past: Option<NonTemporal>,
    [inner, outer]: [&Dim; 2],
    rest: &[Dim],
    dest: Shared,
    source: Shared,
) {
    let across = outer.size.div_ceil(TILE);
    let planes: usize = rest.iter().map(|dim| dim.size).product();
    let strip = |strip: usize| {
        let (mut plane, first) = (strip / across, strip % across * TILE);
        let mut at = [
            outer.steps[0] * first as isize,
            outer.steps[1] * first as isize,
        ];
        for dim in rest {
            let index = (plane % dim.size) as isize;
            plane /= dim.size;
            at = [at[0] + index * dim.steps[0], at[1] + index * dim.steps[1]];
        }
        let rows = TILE.min(outer.size - first);
        let mut block = [const { MaybeUninit::<u128>::uninit() }; TILE * TILE];
        let block = block.as_mut_ptr().cast::<u8>();
        let [_, to_size] = cast.sizes();
        let (pitch, whole) = (TILE as isize * to_size, inner.steps[0] == to_size);
        for column in (0..inner.size).step_by(TILE) {
            let n = TILE.min(inner.size - column);
            let offset = |operand: usize| at[operand] + inner.steps[operand] * column as isize;
            // SAFETY: parts of runs of the plan; strips share no position of `dest`. The block has
            // room for a tile of the largest elements.
            unsafe {
                let (source, dest) = (source.get().offset(offset(1)), dest.get().offset(offset(0)));
                // Elements that are contiguous in the source are read together and written to a
                // column.
                for i in 0..n as isize {
                    let from = source.offset(i * inner.steps[1]);
                    cast.run(rows, from, outer.steps[1], block.offset(i * to_size), pitch);
                }
                for row in 0..rows as isize {
                    let from = block.offset(row * pitch);
                    let to = dest.offset(row * outer.steps[0]);
                    match past {
                        _ if !whole => keep.run(n, from, to_size, to, inner.steps[0]),
                        Some(past) => past.copy(from, to, n * to_size as usize),
                        None => to.copy_from_nonoverlapping(from, n * to_size as usize),
                    }
                }
            }
        }
    };
    let strips = across * planes;
    let all = |strips: Range<usize>| {
        strips.for_each(strip);
        if let Some(past) = past {
            past.settle();
        }
    };
    if strips * inner.size * TILE < 2 * GRAIN {
        all(0..strips);
    } else {
        let pieces = strips.min(4 * crate::cpu::parallel::threads());
        each(pieces, &|piece| {
            all(strips * piece / pieces..strips * (piece + 1) / pieces);
        });
    }
}
