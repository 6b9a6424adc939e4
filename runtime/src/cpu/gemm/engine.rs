//! Large products: blocks that fit the caches, made of tiles.
//!
//! The right operand becomes panels as wide as a tile, the left one rows without gaps, each where
//! that pays; small matrices are read where they are. Each element of the result is a sum in the
//! order of the inner dim, in parts of [`Kind::DEPTH`] steps: whatever the threads and blocks are.

use std::ops::Range;

use nomina_core::{Element, Scalar};

use super::after::After;
use super::cache;
use super::kind::Kind;
use super::prefetch::{Lines, Prefetch};
use super::share::{Writable, room, share};
use super::tile::{Tile, VECTORS};
use crate::cpu::parallel::threads;
use crate::job::{Matrix, Product};
use crate::memory::NoMemory;

/// Panels that stay in the second-level cache while rows pass by.
const PANELS: usize = 12;
/// Rows of the left operand that lie there beside them.
const HEIGHT: usize = 192;
/// Bytes of the right operand that are packed at once.
const PACKED: usize = 64 << 20;
/// Columns that one task packs for itself at most.
const BROAD: usize = 1024;
/// Columns of a thread for which it may as well pack the left operand itself: waiting for what others
/// pack, and reading it from their caches, takes longer.
const SHARE: usize = 192;
/// Rows beyond which each thread has several blocks of them, so that one that is slower leaves some to others.
const TALL: usize = 4 * HEIGHT;
/// Rows up to which packing the right operand costs more than it gives.
const LOW: usize = 48;
/// Bytes of a left operand that is read where it lies.
const NEAR: usize = 512 << 10;

/// A product, laid out so that rows of the result lie side by side.
pub(super) struct Job<'a, K: Kind> {
    pub(super) p: &'a Product,
    /// The inner dim in units.
    depth: usize,
    alpha: K::Elem,
    beta: Option<K::Elem>,
    /// Whether operands are units already.
    as_is: bool,
    /// Whether the left operand is read where it lies.
    near: bool,
    /// What is asked for meanwhile; nothing where there are several tasks.
    ahead: Prefetch,
}

/// One product, what comes after it included. What `next` reads is asked for meanwhile.
///
/// # Safety
/// As for [`super::run`]; the processor has the instructions of the kind.
pub(super) unsafe fn product<K: Kind>(
    p: &Product,
    parallel: bool,
    next: Option<&Product>,
) -> Result<(), NoMemory> {
    let flipped;
    let mut p = p;
    if p.c.cols != 1 && p.n != 1 && p.c.rows == 1 {
        flipped = p.flipped();
        p = &flipped;
    }
    let beside = |matrix: Matrix| matrix.cols == 1 || p.n == 1;
    if K::AS_IS == Some(p.dtype)
        && beside(p.b)
        && beside(p.c)
        && p.m <= K::ROWS
        && p.n <= VECTORS * K::LANES
        && p.k <= K::DEPTH
    {
        if p.addend.is_some() {
            // SAFETY: the caller's promise.
            let _ = unsafe { p.preset() };
        }
        let tile = Tile {
            rows: p.m,
            cols: p.n,
            depth: p.k,
            a: p.a.ptr.cast_const().cast::<K::Unit>(),
            a_row: p.a.rows,
            a_step: p.a.cols,
            b: p.b.ptr.cast_const().cast::<K::Unit>(),
            b_step: p.b.rows,
            c: p.c.ptr.cast::<K::Elem>(),
            c_row: p.c.rows,
            alpha: K::Elem::from_scalar(p.alpha),
            beta: p.beta.map(K::Elem::from_scalar),
            d: p.c.ptr.cast_const().cast::<K::Elem>(),
            d_row: p.c.rows,
            d_one: false,
            ahead: Lines::none(p.a.ptr),
        };
        let masked = usize::from(!p.n.is_multiple_of(K::LANES));
        let kernels = &K::KERNELS[masked][0][(p.n - 1) / K::LANES];
        // SAFETY: the product is one tile.
        unsafe {
            kernels[p.m - 1](&tile);
            if let Some(after) = After::of(p) {
                after.rows(p.c.ptr, p.c.rows, p.m, p.n);
            }
        }
        return Ok(());
    }
    // SAFETY: as above.
    unsafe { large::<K>(p, parallel, next) }
}

/// A product of several tiles.
///
/// # Safety
/// As of [`product`].
#[inline(never)]
unsafe fn large<K: Kind>(
    p: &Product,
    parallel: bool,
    next: Option<&Product>,
) -> Result<(), NoMemory> {
    let as_is = K::AS_IS == Some(p.dtype);
    let size = p.dtype.size();
    let preset;
    let mut job = Job::<'_, K> {
        p,
        depth: p.k.div_ceil(K::STEPS),
        alpha: K::Elem::from_scalar(p.alpha),
        beta: p.beta.map(K::Elem::from_scalar),
        as_is,
        ahead: Prefetch::of(p, next),
        near: false,
    };
    // Rows that meet in one set of the first-level cache push each other out where it has few.
    let meet = p.a.rows != 1 && (p.a.rows.unsigned_abs() * size).is_multiple_of(cache::APART);
    job.near = !cfg!(unoptimized) && as_is && job.few() && (!meet || cache::ways() >= K::ROWS);
    // SAFETY: the caller's promise.
    unsafe {
        if p.addend.is_some_and(|d| as_is && !matches!(d.cols, 0 | 1)) {
            preset = p.preset();
            job.p = &preset;
        }
        job.run(parallel)
    }
}

/// How many times so many tasks are a multiple of the threads.
fn even(tasks: usize, threads: usize) -> usize {
    let times = (1..threads).find(|times| (times * tasks).is_multiple_of(threads));
    times.unwrap_or(threads)
}

/// The parts of the inner dim, one at least.
fn parts<K: Kind>(depth: usize) -> impl Iterator<Item = Range<usize>> {
    let count = depth.div_ceil(K::DEPTH).max(1);
    (0..count).map(move |part| part * K::DEPTH..depth.min((part + 1) * K::DEPTH))
}

/// The right operand as tiles read it.
#[derive(Clone, Copy)]
enum Right<U> {
    /// Where it lies.
    AsIs,
    /// In panels, from a column on, so many.
    Panels(*const U, usize, usize),
    /// In panels that each task packs for itself.
    Own,
}

// SAFETY: an address; tasks read there and nobody writes meanwhile.
unsafe impl<U> Send for Right<U> {}
// SAFETY: as above.
unsafe impl<U> Sync for Right<U> {}

impl<K: Kind> Job<'_, K> {
    /// Columns of a tile.
    const WIDTH: usize = VECTORS * K::LANES;

    /// # Safety
    /// As of [`product`].
    unsafe fn run(&self, parallel: bool) -> Result<(), NoMemory> {
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
        let few = m <= HEIGHT || self.few() || (self.as_is && m <= TALL && n >= threads * SHARE);
        if few && panels >= threads {
            let across = if self.near {
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
            let to = Writable(packed.as_ptr().as_ptr().cast::<K::Unit>());
            let count = cols.len().div_ceil(Self::WIDTH);
            // A few panels for each task.
            let pieces = if threads == 1 {
                1
            } else {
                count.min(4 * threads)
            };
            let pack = |piece: usize| {
                for panel in count * piece / pieces..count * (piece + 1) / pieces {
                    let first = cols.start + panel * Self::WIDTH;
                    let wide = Self::WIDTH.min(cols.end - first);
                    for depth in parts::<K>(self.depth) {
                        // SAFETY: the panel's own room, and columns of the operand.
                        unsafe {
                            let to = to.get().add(Self::place(count, panel, &depth));
                            K::pack(self.right(depth, first, wide), to, Self::WIDTH)?;
                        }
                    }
                }
                Ok(())
            };
            share(pieces, &pack)?;
            let mut down = m.div_ceil(HEIGHT);
            if threads > 1 {
                down = down.max(tasks).next_multiple_of(threads).min(tiles);
            }
            let right = Right::Panels(to.0.cast_const(), from, count);
            // SAFETY: the caller's promise.
            unsafe { self.grid([down, 1], cols.clone(), right)? };
        }
        Ok(())
    }

    /// Whether the left operand stays in the second-level cache.
    fn few(&self) -> bool {
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
        p.m <= LOW || (self.near && p.k * 4 / 3 <= cache::APART / meet * cache::ways())
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
            let row = |at: usize| match self.near {
                true => self.p.m * at / down,
                false => (self.p.m.div_ceil(K::ROWS) * at / down * K::ROWS).min(self.p.m),
            };
            let col = |at: usize| (cols.start + panels * at / across * Self::WIDTH).min(cols.end);
            // SAFETY: tasks have parts of the result of their own.
            unsafe { self.block(row(i)..row(i + 1), col(j)..col(j + 1), right) }
        };
        share(down * across, &task)
    }

    /// Some rows and columns of the result.
    ///
    /// # Safety
    /// As of [`product`]; nobody else uses this part of the result.
    unsafe fn block(
        &self,
        rows: Range<usize>,
        cols: Range<usize>,
        right: Right<K::Unit>,
    ) -> Result<(), NoMemory> {
        let p = self.p;
        if rows.is_empty() || cols.is_empty() {
            return Ok(());
        }
        // 16-bit results are sums of `f32` until the end, and others whose rows have gaps are gathered.
        let wide = (p.dtype != K::Elem::DTYPE || (p.c.cols != 1 && p.n != 1))
            .then(|| room([rows.len(), cols.len(), size_of::<K::Elem>()]))
            .transpose()?;
        let (mut c, mut c_row) = (p.c.at::<K::Elem>(rows.start, cols.start), p.c.rows);
        let (mut d, mut d_row, mut d_one) = (c.cast_const(), c_row, false);
        if let Some(wide) = &wide {
            (c, c_row) = (wide.as_ptr().as_ptr().cast(), cols.len() as isize);
            (d, d_row) = (c, c_row);
            if self.beta.is_some() {
                // SAFETY: the scratch has so many rows and columns.
                unsafe { self.exchange(&rows, &cols, c, true) };
            }
        } else if let Some(addend) = p.addend {
            d = addend.at::<K::Elem>(rows.start, cols.start);
            (d_row, d_one) = (addend.rows, addend.cols == 0 && p.n > 1);
        }
        let own = match right {
            Right::Own => {
                let wide = cols.len().next_multiple_of(Self::WIDTH);
                Some(room([
                    wide,
                    K::DEPTH.min(self.depth),
                    size_of::<K::Unit>(),
                ])?)
            }
            _ => None,
        };
        let height = HEIGHT.min(rows.len());
        let left = [
            height.next_multiple_of(K::ROWS),
            // A vector more for the last of them.
            K::DEPTH.min(self.depth) + K::LANES,
            size_of::<K::Unit>(),
        ];
        let left = (!self.near).then(|| room(left)).transpose()?;
        // Sums that lie in the result are complete when their tiles are.
        let after = After::of(p).filter(|_| wide.is_none());
        let mut ahead = self.ahead;
        for depth in parts::<K>(self.depth) {
            let after = after.filter(|_| depth.end == self.depth);
            let mut beta = self.beta;
            if depth.start > 0 {
                beta = Some(K::Elem::from_scalar(Scalar::Int(1)));
                (d, d_row, d_one) = (c, c_row, false);
            }
            let own = own
                .as_ref()
                .map(|own| own.as_ptr().as_ptr().cast::<K::Unit>());
            // SAFETY: the parts are within the matrices, the scratches have their sizes.
            unsafe {
                if let Some(own) = own {
                    for (panel, first) in cols.clone().step_by(Self::WIDTH).enumerate() {
                        let wide = Self::WIDTH.min(cols.end - first);
                        let to = own.add(panel * depth.len() * Self::WIDTH);
                        K::pack(self.right(depth.clone(), first, wide), to, Self::WIDTH)?;
                    }
                }
                for top in rows.clone().step_by(HEIGHT) {
                    let high = HEIGHT.min(rows.end - top);
                    let a = p.a.at::<K::Unit>(top, depth.start).cast_const();
                    let mut a = a;
                    if let Some(left) = &left {
                        let to = left.as_ptr().as_ptr().cast::<K::Unit>();
                        for row in (0..high).step_by(K::ROWS) {
                            let left = self.left(top + row, K::ROWS.min(high - row), depth.clone());
                            K::pack(left, to.add(row * depth.len()), K::ROWS)?;
                        }
                        a = to;
                    }
                    let down = (top - rows.start) as isize;
                    let strip = Tile {
                        rows: high,
                        cols: cols.len(),
                        depth: depth.len(),
                        a,
                        a_row: if left.is_some() {
                            depth.len() as isize
                        } else {
                            p.a.rows
                        },
                        a_step: p.a.cols,
                        b: a,
                        b_step: Self::WIDTH as isize,
                        c: c.wrapping_offset(down * c_row),
                        c_row,
                        alpha: self.alpha,
                        beta,
                        d: d.wrapping_offset(down * d_row),
                        d_row,
                        d_one,
                        ahead: Lines::none(a),
                    };
                    let panel = |at: usize| match (right, own) {
                        (Right::Panels(all, start, count), _) => {
                            let panel = (cols.start - start) / Self::WIDTH + at;
                            all.add(Self::place(count, panel, &depth))
                        }
                        (_, Some(own)) => own.add(at * depth.len() * Self::WIDTH).cast_const(),
                        _ => {
                            let first = cols.start + at * Self::WIDTH;
                            p.b.at::<K::Unit>(depth.start, first).cast_const()
                        }
                    };
                    let b_step = match right {
                        Right::AsIs => p.b.rows,
                        _ => strip.b_step,
                    };
                    let masked = matches!(right, Right::AsIs);
                    let edges = [masked, left.is_some()];
                    Self::tiles(Tile { b_step, ..strip }, edges, panel, &mut ahead, after);
                }
            }
        }
        if wide.is_some() {
            // SAFETY: the scratch holds the result, whose part is this task's own.
            unsafe { self.exchange(&rows, &cols, c, false) };
        }
        Ok(())
    }

    /// A block by tiles: `panel` says where each panel of the right operand lies; its last vector may
    /// have to be `masked`, and the left operand may be `packed`. A row of tiles goes through `after`
    /// as soon as it is there.
    ///
    /// # Safety
    /// As of the tile that is the block.
    unsafe fn tiles(
        block: Tile<K::Unit, K::Elem>,
        [masked, packed]: [bool; 2],
        panel: impl Fn(usize) -> *const K::Unit,
        ahead: &mut Prefetch,
        after: Option<After>,
    ) {
        let panels = block.cols.div_ceil(Self::WIDTH);
        let strips = block.rows.div_ceil(K::ROWS);
        // Tiles of about one height, unless rows are packed: the last few rows alone would wait for
        // each other's sums.
        let start = |strip: usize| match packed {
            true => block.rows.min(strip * K::ROWS),
            false => block.rows * strip / strips,
        };
        for first in (0..panels).step_by(PANELS) {
            for strip in 0..strips {
                let row = start(strip);
                let down = row as isize;
                let mut tile = block;
                tile.rows = start(strip + 1) - row;
                tile.a = block.a.wrapping_offset(down * block.a_row);
                for at in first..panels.min(first + PANELS) {
                    let across = at * Self::WIDTH;
                    tile.cols = Self::WIDTH.min(block.cols - across);
                    tile.b = panel(at);
                    tile.c = block
                        .c
                        .wrapping_offset(down * block.c_row)
                        .wrapping_add(across);
                    let step = if block.d_one { 0 } else { across };
                    tile.d = block
                        .d
                        .wrapping_offset(down * block.d_row)
                        .wrapping_add(step);
                    tile.ahead = ahead.take(tile.depth, tile.b);
                    let masked = masked && tile.cols % K::LANES > 0;
                    let kernels = &K::KERNELS[usize::from(masked)][usize::from(packed)];
                    // SAFETY: part of the block.
                    unsafe { kernels[(tile.cols - 1) / K::LANES][tile.rows - 1](&tile) };
                }
                if let Some(after) = after {
                    let left = first * Self::WIDTH;
                    let right = block.cols.min((first + PANELS) * Self::WIDTH);
                    let c = block.c.wrapping_offset(down * block.c_row);
                    let c = c.wrapping_add(left).cast();
                    // SAFETY: the tiles' rows, as far as they reach.
                    unsafe { after.rows(c, block.c_row, tile.rows, right - left) };
                }
            }
        }
    }

    /// Where a panel's part lies among so many panels: parts of one depth lie together.
    fn place(count: usize, panel: usize, depth: &Range<usize>) -> usize {
        (depth.start * count + depth.len() * panel) * Self::WIDTH
    }
}

// SAFETY: addresses and numbers; tasks write to parts of the result of their own.
unsafe impl<K: Kind> Sync for Job<'_, K> {}
