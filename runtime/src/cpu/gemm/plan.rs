//! How a product is divided among threads: which operands are packed, by which task, and which part of the
//! result each task computes.

use std::ops::Range;

use super::engine::{HEIGHT, Left, Right, TiledProduct, parts};
use super::kind::Kind;
use super::share::{Writable, even, room};
use crate::cpu::cache;
use crate::cpu::parallel::{threads, try_each};
use crate::memory::NoMemory;

/// The most bytes of the right operand that are packed at once.
const PACKED: usize = 64 << 20;
/// The most columns that one task packs for itself.
const BROAD: usize = 1024;
/// The most rows for which each thread packs the left operand itself if it has more columns than rows: waiting
/// for the other threads to pack, and reading from their caches, takes longer.
const TALL: usize = 4 * HEIGHT;
/// The fewest rows of a task that is one of several for the same columns, because each reads or packs them anew.
const LOW: usize = 48;
/// The most tiles above each other for which packing the right operand costs more than it saves.
const IN_PLACE: usize = 2;
/// The most bytes of a left operand that is read in place.
const NEAR: usize = 512 << 10;

impl<K: Kind> TiledProduct<'_, K> {
    /// Divides the product among tasks and computes it.
    ///
    /// # Safety
    /// The requirements of [`product`].
    pub(super) unsafe fn run(&self, parallel: bool) -> Result<(), NoMemory> {
        let (m, n) = (self.p.m, self.p.n);
        let threads = if parallel { threads() } else { 1 };
        let tiles = m.div_ceil(K::ROWS);
        let panels = n.div_ceil(Self::WIDTH);
        // Several tasks per thread, so that a slow thread can be relieved.
        let tasks = if threads == 1 { 1 } else { 4 * threads };
        if self.readable() {
            // Tasks split both rows and columns, because they share no packed operand.
            let across = tasks.min(panels);
            let mut down = even(across, threads);
            if m > LOW {
                down = tasks.div_ceil(across).next_multiple_of(down);
            }
            let down = down.min(tiles);
            // SAFETY: guaranteed by the caller.
            return unsafe { self.grid([down, across], 0..n, Right::AsIs) };
        }
        // A task that packs part of the left operand for itself should use it for many columns.
        let few = m <= HEIGHT || self.few() || (self.as_is && m <= TALL && n > threads * m);
        if few && panels >= threads {
            let across = if self.as_it_lies() {
                tasks.min(panels)
            } else {
                threads
            };
            let across = across.max(n.div_ceil(BROAD));
            // Rows are split, too, if columns alone would leave a thread with less work and packing the
            // columns twice costs little.
            let mut down = even(across, threads);
            if across > tasks || m / down < 2 * LOW {
                down = 1;
            }
            // SAFETY: as above.
            return unsafe { self.grid([down, across], 0..n, Right::Own) };
        }
        let column = self.depth * size_of::<K::Unit>();
        let at_once = (PACKED / column.max(1) / Self::WIDTH).max(4) * Self::WIDTH;
        let wide = at_once.min(panels * Self::WIDTH);
        let packed = room([column, wide])?;
        for from in (0..n).step_by(at_once) {
            let cols = from..n.min(from + at_once);
            let to = packed.as_ptr().as_ptr().cast::<K::Unit>();
            let count = cols.len().div_ceil(Self::WIDTH);
            // SAFETY: room for all panels.
            unsafe { self.pack_panels(cols.clone(), to, threads)? };
            let mut down = m.div_ceil(HEIGHT);
            if threads > 1 {
                down = down.max(tasks).next_multiple_of(threads).min(tiles);
            }
            let right = Right::Panels(to.cast_const(), from, count);
            // SAFETY: guaranteed by the caller.
            unsafe { self.grid([down, 1], cols.clone(), right)? };
        }
        Ok(())
    }

    /// Packs panels of the right operand on `threads` threads.
    ///
    /// # Safety
    /// The requirements of [`product`]; there is room for the panels.
    pub(super) unsafe fn pack_panels(
        &self,
        cols: Range<usize>,
        to: *mut K::Unit,
        threads: usize,
    ) -> Result<(), NoMemory> {
        let (count, to) = (cols.len().div_ceil(Self::WIDTH), Writable(to));
        // A few panels per task.
        let pieces = if threads == 1 {
            1
        } else {
            count.min(4 * threads)
        };
        try_each(pieces, &|piece| {
            for panel in count * piece / pieces..count * (piece + 1) / pieces {
                let first = cols.start + panel * Self::WIDTH;
                let wide = Self::WIDTH.min(cols.end - first);
                for depth in parts::<K>(self.depth) {
                    // SAFETY: the panel's own room, and columns of the operand.
                    unsafe {
                        let to = to.get().add(Self::place(count, panel, &depth));
                        self.pack_right(depth, first, wide, to)?;
                    }
                }
            }
            Ok(())
        })
    }

    /// Returns whether the left operand is read in place.
    fn as_it_lies(&self) -> bool {
        matches!(self.left, Left::AsIs)
    }

    /// Returns whether the left operand fits in the second-level cache.
    pub(super) fn few(&self) -> bool {
        self.p.m.saturating_mul(self.p.k) <= NEAR / self.p.dtype.size()
    }

    /// Returns whether tiles read the right operand in place: its rows are contiguous, and either few enough
    /// to stay cached or used too rarely to be worth packing.
    fn readable(&self) -> bool {
        let p = self.p;
        if cfg!(unoptimized) || !self.as_is || (p.b.cols != 1 && p.n != 1) {
            return false;
        }
        // The sets of the first-level cache that rows of this stride map to.
        let stride = p.b.rows.unsigned_abs() * p.dtype.size();
        let meet = 1 << stride.trailing_zeros().clamp(7, cache::APART.ilog2());
        p.m <= IN_PLACE * K::ROWS
            || (self.as_it_lies() && p.k * 4 / 3 <= cache::APART / meet * cache::ways())
    }

    /// Computes a grid of `down` × `across` tasks.
    ///
    /// # Safety
    /// The requirements of [`product`]; panels hold the columns.
    unsafe fn grid(
        &self,
        [down, across]: [usize; 2],
        cols: Range<usize>,
        right: Right<K::Unit>,
    ) -> Result<(), NoMemory> {
        let panels = cols.len().div_ceil(Self::WIDTH);
        let task = |task: usize| {
            let (i, j) = (task / across, task % across);
            // Whole tiles if rows are packed; otherwise parts as even as possible.
            let row = |at: usize| {
                if self.as_it_lies() {
                    self.p.m * at / down
                } else {
                    (self.p.m.div_ceil(K::ROWS) * at / down * K::ROWS).min(self.p.m)
                }
            };
            let col = |at: usize| (cols.start + panels * at / across * Self::WIDTH).min(cols.end);
            // SAFETY: each task owns its part of the result.
            unsafe { self.block(row(i)..row(i + 1), col(j)..col(j + 1), right) }
        };
        try_each(down * across, &task)
    }
}
