//! Large products: blocks that fit the caches, made of tiles.
//!
//! The right operand becomes panels as wide as a tile, the left one rows without gaps, each where
//! that pays; small matrices are read where they are. Each element of the result is a sum in the
//! order of the inner dim, in parts of [`Kind::DEPTH`] steps: whatever the threads and blocks are.

use std::ops::Range;

use nomina_core::{Element, Scalar};

use super::after::After;
use super::kind::Kind;
use super::lowered::Lowered;
use super::prefetch::{Lines, Prefetch};
use super::share::room;
use super::tile::{Tile, VECTORS};
use crate::cpu::cache;
use crate::job::{Matrix, Product};
use crate::memory::NoMemory;

/// Panels that stay in the second-level cache while rows pass by.
const PANELS: usize = 12;
/// Rows of the left operand that lie there beside them.
pub(super) const HEIGHT: usize = 192;

/// A product, laid out so that rows of the result lie side by side.
pub(super) struct Job<'a, K: Kind> {
    pub(super) p: &'a Product,
    /// The inner dim in units.
    pub(super) depth: usize,
    pub(super) alpha: K::Elem,
    pub(super) beta: Option<K::Elem>,
    /// Whether operands are units already.
    pub(super) as_is: bool,
    pub(super) left: Left<K::Unit>,
    /// What is asked for meanwhile; nothing where there are several tasks.
    ahead: Prefetch,
    /// What stands for the right operand where tasks pack it.
    pub(super) lowered: Option<&'a dyn Lowered>,
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
            a_steps: std::ptr::null(),
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
        let kernels = &K::KERNELS.tiles[masked][0][(p.n - 1) / K::LANES];
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
    let preset;
    let mut job = Job::<'_, K>::new(p, Prefetch::of(p, next));
    if job.near() {
        job.left = Left::AsIs;
    }
    // SAFETY: the caller's promise.
    unsafe {
        if p.addend
            .is_some_and(|d| job.as_is && !matches!(d.cols, 0 | 1))
        {
            preset = p.preset();
            job.p = &preset;
        }
        job.run(parallel)
    }
}

/// The parts of the inner dim, one at least.
pub(super) fn parts<K: Kind>(depth: usize) -> impl Iterator<Item = Range<usize>> {
    let count = depth.div_ceil(K::DEPTH).max(1);
    (0..count).map(move |part| part * K::DEPTH..depth.min((part + 1) * K::DEPTH))
}

/// The left operand as tiles read it.
#[derive(Clone, Copy)]
pub(super) enum Left<U> {
    /// Where it lies.
    AsIs,
    /// In rows that each task packs for itself.
    Own,
    /// In rows that were packed before, all of them.
    Packed(*const U),
}

/// The right operand as tiles read it.
#[derive(Clone, Copy)]
pub(super) enum Right<U> {
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
    pub(super) const WIDTH: usize = VECTORS * K::LANES;

    /// One that packs its operands, until more is known.
    pub(super) fn new(p: &Product, ahead: Prefetch) -> Job<'_, K> {
        Job {
            p,
            depth: p.k.div_ceil(K::STEPS),
            alpha: K::Elem::from_scalar(p.alpha),
            beta: p.beta.map(K::Elem::from_scalar),
            as_is: K::AS_IS == Some(p.dtype),
            left: Left::Own,
            ahead,
            lowered: None,
        }
    }

    /// Whether the left operand is read where it lies best.
    fn near(&self) -> bool {
        let p = self.p;
        // Rows that meet in one set of the first-level cache push each other out where it has few.
        let meet = p.a.rows != 1
            && (p.a.rows.unsigned_abs() * p.dtype.size()).is_multiple_of(cache::APART);
        !cfg!(unoptimized) && self.as_is && self.few() && (!meet || cache::ways() >= K::ROWS)
    }

    /// Some rows and columns of the result.
    ///
    /// # Safety
    /// As of [`product`]; nobody else uses this part of the result.
    pub(super) unsafe fn block(
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
        let part = K::DEPTH.min(self.depth);
        let own = matches!(right, Right::Own).then(|| {
            let wide = cols.len().next_multiple_of(Self::WIDTH);
            room([wide, part, size_of::<K::Unit>()])
        });
        let own = own.transpose()?;
        let height = HEIGHT.min(rows.len()).next_multiple_of(K::ROWS);
        let left = matches!(self.left, Left::Own)
            .then(|| room([height, Self::apart(part), size_of::<K::Unit>()]))
            .transpose()?;
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
                        self.pack_right(depth.clone(), first, wide, to)?;
                    }
                }
                for top in rows.clone().step_by(HEIGHT) {
                    let high = HEIGHT.min(rows.end - top);
                    let apart = Self::apart(depth.len()) as isize;
                    let (a, a_row) = match (self.left, &left) {
                        (Left::Packed(all), _) => (all.add(self.strip(top, &depth)), apart),
                        (_, Some(left)) => {
                            let to = left.as_ptr().as_ptr().cast::<K::Unit>();
                            let rows = top..top + high;
                            self.pack_left(rows, depth.clone(), to)?;
                            (to.cast_const(), apart)
                        }
                        _ => {
                            let a = p.a.at::<K::Unit>(top, depth.start);
                            (a.cast_const(), p.a.rows)
                        }
                    };
                    let down = (top - rows.start) as isize;
                    let strip = Tile {
                        rows: high,
                        cols: cols.len(),
                        depth: depth.len(),
                        a,
                        a_row,
                        a_step: p.a.cols,
                        a_steps: std::ptr::null(),
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
                    let edges = [masked, !matches!(self.left, Left::AsIs)];
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
                    let shapes = &K::KERNELS.tiles[usize::from(masked)][usize::from(packed)];
                    let kernels = shapes[(tile.cols - 1) / K::LANES];
                    // SAFETY: part of the block.
                    unsafe { kernels[(tile.rows - 1) / (K::ROWS / kernels.len())](&tile) };
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

    /// How far apart packed rows of a part lie: a tile's last step may be written beyond.
    pub(super) fn apart(depth: usize) -> usize {
        depth + 1
    }

    /// Where a packed row's part lies, the first of a tile's, where all rows are packed.
    pub(super) fn strip(&self, row: usize, depth: &Range<usize>) -> usize {
        let rows = self.p.m.next_multiple_of(K::ROWS);
        let parts = depth.start / K::DEPTH;
        rows * (depth.start + parts) + row * Self::apart(depth.len())
    }

    /// Where a panel's part lies among so many panels: parts of one depth lie together.
    pub(super) fn place(count: usize, panel: usize, depth: &Range<usize>) -> usize {
        (depth.start * count + depth.len() * panel) * Self::WIDTH
    }
}

// SAFETY: addresses and numbers; tasks write to parts of the result of their own.
unsafe impl<K: Kind> Sync for Job<'_, K> {}
