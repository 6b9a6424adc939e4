//! Large products: cache-sized blocks made of tiles.
//!
//! The right operand is packed into panels as wide as a tile, the left one into rows without gaps, each
//! only where packing pays; small matrices are read in place. Each element of the result is a sum in
//! the order of the inner dim, in parts of [`Kind::DEPTH`] steps, independent of the number of threads
//! and the blocking.

use std::ops::Range;

use nomina_core::{DType, Element, Scalar};

use super::epilogue::Epilogue;
use super::kind::Kind;
use super::prefetch::{Prefetch, StepPrefetch};
use super::share::room;
use super::tile::{AS_IT_LIES, Shapes, Tile, TileEnd};
use crate::cpu::cache;
use crate::job::{Matrix, Product};
use crate::memory::NoMemory;

/// The number of rows of the left operand that stay in the second-level cache with the panels.
pub(super) const HEIGHT: usize = 192;

/// A right operand that is generated while it is packed.
pub(crate) trait Lowered: Sync {
    /// Writes some steps along the inner dim of some columns. The elements of a step are contiguous, steps are `apart`
    /// elements apart, and zeros fill the gap. Elements have the product's dtype.
    ///
    /// # Safety
    /// There is room for `apart` elements for each step.
    unsafe fn write(&self, steps: Range<usize>, columns: Range<usize>, to: *mut u8, apart: usize);
}

/// A product, oriented so that rows of the result are contiguous.
pub(super) struct TiledProduct<'a, K: Kind> {
    pub(super) p: &'a Product,
    /// The length of the inner dim, in units.
    pub(super) depth: usize,
    pub(super) alpha: K::Elem,
    pub(super) beta: Option<K::Elem>,
    /// Whether the operands' elements are units, so that they can be read without packing.
    pub(super) as_is: bool,
    pub(super) left: Left<K::Unit>,
    /// The prefetches of the next product; none if there are several tasks.
    ahead: Prefetch,
    /// A generated right operand, which tasks write instead of packing a matrix.
    pub(super) lowered: Option<&'a dyn Lowered>,
}

/// Computes one product, its epilogue included, and prefetches the operands of `next`.
///
/// # Safety
/// The requirements of [`super::multiply`]; the processor has the instructions of the kind.
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
        && p.n <= TiledProduct::<'_, K>::WIDTH
        && p.m <= tallest::<K>(K::KERNELS.tiles[0][AS_IT_LIES], p.n)
        && p.k <= K::DEPTH
    {
        if p.addend.is_some() {
            // SAFETY: guaranteed by the caller.
            let _ = unsafe { p.preset() };
        }
        let (end, after) = Epilogue::split::<K::Elem>(p);
        let tile = Tile {
            rows: p.m,
            cols: p.n,
            depth: p.k,
            a: p.a.ptr.cast_const().cast::<K::Unit>(),
            a_row: p.a.rows,
            a_step: p.a.cols,
            steps: std::ptr::null(),
            b: p.b.ptr.cast_const().cast::<K::Unit>(),
            b_step: p.b.rows,
            c: p.c.ptr.cast::<K::Elem>(),
            c_row: p.c.rows,
            alpha: K::Elem::from_scalar(p.alpha),
            beta: p.beta.map(K::Elem::from_scalar),
            d: p.c.ptr.cast_const().cast::<K::Elem>(),
            d_row: p.c.rows,
            d_one: false,
            end,
            ahead: StepPrefetch::none(p.a.ptr),
        };
        let masked = usize::from(!p.n.is_multiple_of(K::LANES));
        let kernels = &K::KERNELS.tiles[masked][0][(p.n - 1) / K::LANES];
        // SAFETY: the product is one tile.
        unsafe {
            kernels[p.m - 1](&tile);
            if let Some(after) = after {
                after.rows(p.c.ptr, p.c.rows, p.m, p.n);
            }
        }
        return Ok(());
    }
    // SAFETY: as above.
    unsafe { large::<K>(p, parallel, next) }
}

/// Computes a product of several tiles.
///
/// # Safety
/// The requirements of [`product`].
#[inline(never)]
unsafe fn large<K: Kind>(
    p: &Product,
    parallel: bool,
    next: Option<&Product>,
) -> Result<(), NoMemory> {
    let preset;
    let mut job = TiledProduct::<'_, K>::new(p, Prefetch::between(p, next));
    if job.near() {
        job.left = Left::AsIs;
    }
    // SAFETY: guaranteed by the caller.
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

/// Returns the most rows of these kernels' tiles with this number of columns, at most those of a panel.
pub(super) fn tallest<K: Kind>(shapes: Shapes<K::Unit, K::Elem>, cols: usize) -> usize {
    let vectors = cols.div_ceil(K::LANES).clamp(1, K::VECTORS);
    shapes[vectors - 1].len()
}

/// Splits the inner dim into parts; there is at least one.
pub(super) fn parts<K: Kind>(depth: usize) -> impl Iterator<Item = Range<usize>> {
    let count = depth.div_ceil(K::DEPTH).max(1);
    (0..count).map(move |part| part * K::DEPTH..depth.min((part + 1) * K::DEPTH))
}

/// How tiles read the left operand.
#[derive(Clone, Copy)]
pub(super) enum Left<U> {
    /// In place.
    AsIs,
    /// In rows that each task packs for itself.
    Own,
    /// In rows that were all packed beforehand.
    Packed(*const U),
}

/// How tiles read the right operand.
#[derive(Clone, Copy)]
pub(super) enum Right<U> {
    /// In place.
    AsIs,
    /// In packed panels: the buffer, the first column, the number of panels.
    Panels(*const U, usize, usize),
    /// In panels that each task packs for itself.
    Own,
}

// SAFETY: an address that tasks read from and nobody writes to meanwhile.
unsafe impl<U> Send for Right<U> {}
// SAFETY: as above.
unsafe impl<U> Sync for Right<U> {}

impl<K: Kind> TiledProduct<'_, K> {
    /// Columns of a tile.
    pub(super) const WIDTH: usize = K::VECTORS * K::LANES;

    /// Creates a job whose tasks pack both operands; the caller may change that.
    pub(super) fn new(p: &Product, ahead: Prefetch) -> TiledProduct<'_, K> {
        TiledProduct {
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

    /// Returns the dtype of the result.
    pub(super) fn result(&self) -> DType {
        K::RESULT.unwrap_or(self.p.dtype)
    }

    /// Returns whether the left operand is best read in place.
    fn near(&self) -> bool {
        let p = self.p;
        // Rows that map to the same set of the first-level cache evict each other if it has few ways.
        let meet = p.a.rows != 1
            && (p.a.rows.unsigned_abs() * p.dtype.size()).is_multiple_of(cache::APART);
        let rows = tallest::<K>(K::KERNELS.tiles[0][AS_IT_LIES], p.n);
        !cfg!(unoptimized) && self.as_is && self.few() && (!meet || cache::ways() >= rows)
    }

    /// Computes some rows and columns of the result.
    ///
    /// # Safety
    /// The requirements of [`product`]; nobody else uses this part of the result.
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
        // 16-bit results are summed in `f32` and converted at the end; results whose rows have gaps are
        // summed in a scratch, too.
        let wide = (self.result() != K::Elem::DTYPE || (p.c.cols != 1 && p.n != 1))
            .then(|| room([rows.len(), cols.len(), size_of::<K::Elem>()]))
            .transpose()?;
        let (mut c, mut c_row) = (p.c.at::<K::Elem>(rows.start, cols.start), p.c.rows);
        let (mut d, mut d_row, mut d_one) = (c.cast_const(), c_row, false);
        if let Some(wide) = &wide {
            (c, c_row) = (wide.as_ptr().as_ptr().cast(), cols.len() as isize);
            (d, d_row) = (c, c_row);
            if self.beta.is_some() {
                // SAFETY: the scratch has this number of rows and columns.
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
        // Sums in the result itself are final once their tile is done.
        let (end, after) = match &wide {
            Some(_) => (TileEnd::default(), None),
            None => Epilogue::split::<K::Elem>(p),
        };
        let mut ahead = self.ahead;
        for depth in parts::<K>(self.depth) {
            let last = depth.end == self.depth;
            let after = after.filter(|_| last);
            let mut beta = self.beta;
            if depth.start > 0 {
                beta = Some(K::Elem::from_scalar(Scalar::Int(1)));
                (d, d_row, d_one) = (c, c_row, false);
            }
            let own = own
                .as_ref()
                .map(|own| own.as_ptr().as_ptr().cast::<K::Unit>());
            // SAFETY: the parts are within the matrices; the scratches are large enough.
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
                        steps: std::ptr::null(),
                        b: a,
                        b_step: Self::WIDTH as isize,
                        c: c.wrapping_offset(down * c_row),
                        c_row,
                        alpha: self.alpha,
                        beta,
                        d: d.wrapping_offset(down * d_row),
                        d_row,
                        d_one,
                        end: if last { end } else { TileEnd::default() },
                        ahead: StepPrefetch::none(a),
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
            // SAFETY: the scratch holds the result; this task owns its part of it.
            unsafe { self.exchange(&rows, &cols, c, false) };
        }
        Ok(())
    }

    /// Computes a block by tiles. `panel` returns the address of each panel of the right operand;
    /// `masked` says whether it is read in place, so that its last vector may need a mask, `packed` whether the left
    /// operand is packed. A row of tiles goes through `after` as soon as it is complete.
    ///
    /// # Safety
    /// The requirements of a tile that is the whole block.
    unsafe fn tiles(
        block: Tile<K::Unit, K::Elem>,
        [masked, packed]: [bool; 2],
        panel: impl Fn(usize) -> *const K::Unit,
        ahead: &mut Prefetch,
        after: Option<Epilogue>,
    ) {
        let panels = block.cols.div_ceil(Self::WIDTH);
        let high = match packed {
            true => K::ROWS,
            false => tallest::<K>(K::KERNELS.tiles[0][AS_IT_LIES], block.cols),
        };
        let strips = block.rows.div_ceil(high);
        // Tiles of nearly equal height, unless rows are packed: a last tile of few rows would be
        // limited by the latency of its sums.
        let start = |strip: usize| {
            if packed {
                block.rows.min(strip * K::ROWS)
            } else {
                block.rows * strip / strips
            }
        };
        let kernel = |rows: usize, cols: usize| {
            let masked = masked && !cols.is_multiple_of(K::LANES);
            let shapes = &K::KERNELS.tiles[usize::from(masked)][usize::from(packed)];
            let kernels = shapes[(cols - 1) / K::LANES];
            let step = if packed { K::ROWS / kernels.len() } else { 1 };
            kernels[(rows - 1) / step]
        };
        for first in (0..panels).step_by(K::PANELS) {
            // The panels that follow, or the first ones, with which the next rows begin.
            let mut next = Prefetch::NONE;
            if K::FETCH_PANELS && !masked && panels > K::PANELS {
                let from = (first + K::PANELS) % panels.next_multiple_of(K::PANELS);
                let count = K::PANELS.min(panels - from);
                next = Prefetch::lines(panel(from), count * block.depth * Self::WIDTH);
            }
            for strip in 0..strips {
                let row = start(strip);
                let down = row as isize;
                let mut tile = block;
                tile.rows = start(strip + 1) - row;
                // Looked up once for all whole panels, because it divides.
                let whole = kernel(tile.rows, Self::WIDTH.min(block.cols));
                tile.a = block.a.wrapping_offset(down * block.a_row);
                for at in first..panels.min(first + K::PANELS) {
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
                    let lines = if next.is_empty() {
                        &mut *ahead
                    } else {
                        &mut next
                    };
                    tile.ahead = if masked && lines.is_empty() {
                        StepPrefetch::rows(tile.b, tile.b_step)
                    } else {
                        lines.take(tile.depth, tile.b)
                    };
                    let compute = if tile.cols < Self::WIDTH {
                        kernel(tile.rows, tile.cols)
                    } else {
                        whole
                    };
                    // SAFETY: part of the block.
                    unsafe { compute(&tile) };
                }
                if let Some(after) = after {
                    let left = first * Self::WIDTH;
                    let right = block.cols.min((first + K::PANELS) * Self::WIDTH);
                    let c = block.c.wrapping_offset(down * block.c_row);
                    let c = c.wrapping_add(left).cast();
                    // SAFETY: the rows of the tiles, up to the edge of the result.
                    unsafe { after.rows(c, block.c_row, tile.rows, right - left) };
                }
            }
        }
    }

    /// Returns the distance between packed rows of a part. A tile's last step may be written beyond its
    /// end, hence the extra element.
    pub(super) fn apart(depth: usize) -> usize {
        depth + 1
    }

    /// Returns the offset of one part of a packed row, the first row of a tile, if all rows are packed.
    pub(super) fn strip(&self, row: usize, depth: &Range<usize>) -> usize {
        let rows = self.p.m.next_multiple_of(K::ROWS);
        let parts = depth.start / K::DEPTH;
        rows * (depth.start + parts) + row * Self::apart(depth.len())
    }

    /// Returns the offset of one part of a panel among `count` panels; parts of the same depth are
    /// adjacent.
    pub(super) fn place(count: usize, panel: usize, depth: &Range<usize>) -> usize {
        (depth.start * count + depth.len() * panel) * Self::WIDTH
    }
}

// SAFETY: addresses and numbers; each task writes to its own part of the result.
unsafe impl<K: Kind> Sync for TiledProduct<'_, K> {}
