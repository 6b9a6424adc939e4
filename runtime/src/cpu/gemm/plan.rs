//! How a product is split among threads: what is packed, by whom, and which task has which part of the result.

use std::ops::Range;

use super::engine::{HEIGHT, Job, Left, Right, parts};
use super::kind::Kind;
use super::share::{Writable, even, room};
use crate::cpu::cache;
use crate::cpu::parallel::{threads, try_each};
use crate::memory::NoMemory;

/// Bytes of the right operand that are packed at once.
const PACKED: usize = 64 << 20;
/// Columns that one task packs for itself at most.
const BROAD: usize = 1024;
/// Rows up to which a thread with more columns than rows may as well pack the left operand itself: waiting for
/// what others pack, and reading it from their caches, takes longer.
const TALL: usize = 4 * HEIGHT;
/// Rows up to which packing the right operand costs more than it gives.
const LOW: usize = 48;
/// Bytes of a left operand that is read where it lies.
const NEAR: usize = 512 << 10;

impl<K: Kind> Job<'_, K> {
    /// # Safety
    /// As of [`product`].
    pub(super) unsafe fn run(&self, parallel: bool) -> Result<(), NoMemory> {
        let (m, n) = (self.p.m, self.p.n);
        let threads = if parallel { threads() } else { 1 };
        let tiles = m.div_ceil(K::ROWS);
        let panels = n.div_ceil(Self::WIDTH);
        // Several for each thread, for one that is slower than others.
        let tasks = if threads == 1 { 1 } else { 4 * threads };
        if self.readable() {
            // Tasks with parts of both, since nothing is shared.
            let across = tasks.min(panels);
            let mut down = even(across, threads);
            if m > LOW {
                down = tasks.div_ceil(across).next_multiple_of(down);
            }
            let down = down.min(tiles);
            // SAFETY: the caller's promise.
            return unsafe { self.grid([down, across], 0..n, Right::AsIs) };
        }
        // What each task packs of the left operand for itself should serve many columns.
        let few = m <= HEIGHT || self.few() || (self.as_is && m <= TALL && n > threads * m);
        if few && panels >= threads {
            let across = if self.as_it_lies() {
                tasks.min(panels)
            } else {
                threads
            };
            let across = across.max(n.div_ceil(BROAD));
            // Rows are shared out too, where columns alone would leave a thread with less, and
            // packing those twice costs little.
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
            // SAFETY: the caller's promise.
            unsafe { self.grid([down, 1], cols.clone(), right)? };
        }
        Ok(())
    }

    /// Packs panels of the right operand, on so many threads.
    ///
    /// # Safety
    /// As of [`product`]; there is room for them.
    pub(super) unsafe fn pack_panels(
        &self,
        cols: Range<usize>,
        to: *mut K::Unit,
        threads: usize,
    ) -> Result<(), NoMemory> {
        let (count, to) = (cols.len().div_ceil(Self::WIDTH), Writable(to));
        // A few panels for each task.
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

    /// Whether the left operand is read where it lies.
    fn as_it_lies(&self) -> bool {
        matches!(self.left, Left::AsIs)
    }

    /// Whether the left operand stays in the second-level cache.
    pub(super) fn few(&self) -> bool {
        self.p.m.saturating_mul(self.p.k) <= NEAR / self.p.dtype.size()
    }

    /// Whether tiles read the right operand where it lies: its rows are side by side, and few
    /// enough to stay near, or used too seldom to be packed.
    fn readable(&self) -> bool {
        let p = self.p;
        if cfg!(unoptimized) || !self.as_is || (p.b.cols != 1 && p.n != 1) {
            return false;
        }
        // Lines of the first-level cache that rows of this stride meet in.
        let stride = p.b.rows.unsigned_abs() * p.dtype.size();
        let meet = 1 << stride.trailing_zeros().clamp(7, cache::APART.ilog2());
        p.m <= LOW || (self.as_it_lies() && p.k * 4 / 3 <= cache::APART / meet * cache::ways())
    }

    /// Tasks by rows and columns.
    ///
    /// # Safety
    /// As of [`product`]; panels hold the columns.
    unsafe fn grid(
        &self,
        [down, across]: [usize; 2],
        cols: Range<usize>,
        right: Right<K::Unit>,
    ) -> Result<(), NoMemory> {
        let panels = cols.len().div_ceil(Self::WIDTH);
        let task = |task: usize| {
            let (i, j) = (task / across, task % across);
            // Whole tiles where rows are packed; as even as can be where they are not.
            let row = |at: usize| match self.as_it_lies() {
                true => self.p.m * at / down,
                false => (self.p.m.div_ceil(K::ROWS) * at / down * K::ROWS).min(self.p.m),
            };
            let col = |at: usize| (cols.start + panels * at / across * Self::WIDTH).min(cols.end);
            // SAFETY: tasks have parts of the result of their own.
            unsafe { self.block(row(i)..row(i + 1), col(j)..col(j + 1), right) }
        };
        try_each(down * across, &task)
    }
}
