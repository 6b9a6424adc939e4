//! Products that share one operand, packed once, while the other never exists as a matrix: its elements are generated
//! when it is packed.

use std::ops::Range;

use nomina_core::DType;
use num_complex::Complex;

use super::at_level;
pub(crate) use super::engine::Lowered;
use super::engine::{Left, Right, TiledProduct, parts, tallest};
use super::indirect::{self, OuterSum, Seen};
use super::kind::{Kind, Tiled};
use super::pack::Part;
use super::prefetch::Prefetch;
use super::share::{Writable, room};
use super::sliding;
use crate::cpu::parallel::try_each;
use crate::cpu::simd::Level;
use crate::job::{Matrix, PackOrder, Packed, Product};
use crate::memory::{Block, NoMemory};

/// Evaluates an expression with `$kind` bound to the kind of tiles that multiply a dtype.
macro_rules! of_dtype {
    ($dtype:expr, $kind:ident => $body:expr) => {
        match $dtype {
            DType::F32 => of_dtype!(@ f32, $kind, $body),
            DType::F64 => of_dtype!(@ f64, $kind, $body),
            DType::C64 => of_dtype!(@ Complex<f32>, $kind, $body),
            DType::C128 => of_dtype!(@ Complex<f64>, $kind, $body),
            other => unreachable!("{other} is multiplied as another dtype"),
        }
    };
    (@ $t:ty, $kind:ident, $body:expr) => {
        at_level!(Of => {
            type $kind = Of<$t>;
            $body
        })
    };
}

/// The tile shape of a dtype: rows, vectors per row, lanes per vector, and the number of steps packed at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TileShape {
    pub rows: usize,
    /// The most rows of a tile with at most half of the vectors, if it reads its rows in place.
    pub narrow: usize,
    pub vectors: usize,
    pub lanes: usize,
    pub depth: usize,
}

impl TileShape {
    /// Returns the tile shape of `dtype`.
    pub(crate) fn for_dtype(dtype: DType) -> Self {
        of_dtype!(dtype, K => TileShape {
            rows: K::ROWS,
            narrow: tallest::<K>(K::KERNELS.indirect, 1),
            vectors: K::VECTORS,
            lanes: K::LANES,
            depth: K::DEPTH,
        })
    }

    /// Returns the number of columns of a tile.
    pub(crate) fn width(&self) -> usize {
        self.vectors * self.lanes
    }

    /// Returns the most rows of a tile with this number of columns, if it reads its rows in place.
    pub(crate) fn rows_for(&self, columns: usize) -> usize {
        if columns <= self.width() / 2 {
            self.narrow
        } else {
            self.rows
        }
    }
}

/// Transposes a matrix of `others × steps` elements of `dtype` into rows of `others`, `apart` elements apart, of the
/// dtype `to`. With `apart` greater than `others`, zeros complete a row's last vector.
///
/// # Errors
/// If memory for an intermediate copy cannot be allocated.
///
/// # Safety
/// The matrix is readable; there is room for the rows and one more vector. 16-bit floats are converted to `f32`; other
/// dtypes are equal.
pub(crate) unsafe fn transposed(
    [dtype, compute]: [DType; 2],
    from: Matrix,
    [others, steps]: [usize; 2],
    to: *mut u8,
    apart: usize,
) -> Result<(), NoMemory> {
    let part = Part {
        ptr: from.ptr,
        dtype,
        steps,
        step: from.cols,
        others,
        other: from.rows,
    };
    // SAFETY: guaranteed by the caller; the kind is one of this processor.
    unsafe { of_dtype!(compute, K => K::pack(part, to.cast(), apart)) }
}

/// Adds a sum of outer products of `dtype` to earlier ones.
///
/// # Safety
/// The requirements of [`OuterSum`].
pub(crate) unsafe fn add_outer(dtype: DType, sum: &OuterSum<'_>) {
    // SAFETY: guaranteed by the caller; the kind is one of this processor, and its units are elements.
    unsafe { of_dtype!(dtype, K => indirect::add_outer::<K>(sum)) }
}

/// Computes a product of `f32` or `f64` whose columns are the positions of some lines of a window, with its epilogue.
///
/// # Safety
/// The requirements of [`super::multiply`], except for the right operand, which `seen` replaces: in each step, a vector that
/// begins in a line is readable to its end. The result's rows are contiguous, and an addend has one number for each row.
pub(crate) unsafe fn sliding(p: &Product, lines: Range<usize>, seen: &Seen<'_>) {
    // SAFETY: guaranteed by the caller; the kind is one of this processor, and its units are elements.
    unsafe { of_dtype!(p.dtype, K => sliding::product::<K>(p, lines, seen)) }
}

impl Packed {
    /// Packs the left operand of `p` on `threads` threads; the `n` and other matrices of `p` are ignored.
    ///
    /// # Safety
    /// The operand is readable; its elements have the product's dtype, which is multiplied by tiles.
    pub(crate) unsafe fn new(
        p: &Product,
        order: PackOrder,
        threads: usize,
    ) -> Result<Self, NoMemory> {
        // SAFETY: guaranteed by the caller; the kind is one of this processor.
        let block = unsafe { of_dtype!(p.dtype, K => pack::<K>(p, order, threads)) }?;
        Ok(Self {
            block: Some(block),
            order,
        })
    }

    /// Leaves the operand unpacked, for products too few to gain from packing all of it at once.
    pub(crate) fn later(order: PackOrder) -> Self {
        Self { block: None, order }
    }

    /// Returns whether a product would pack its left operand: it is too large to be read in place, and rows of the result
    /// are contiguous.
    pub(crate) fn pays(p: &Product) -> bool {
        let large = of_dtype!(p.dtype, K => !TiledProduct::<'_, K>::new(p, Prefetch::NONE).few());
        large && p.n > 1 && p.c.cols == 1
    }

    /// Returns the first unit of the packed operand.
    fn first<U>(&self, order: PackOrder) -> Option<*const U> {
        assert_eq!(self.order, order, "packed in another order");
        let block = self.block.as_ref();
        block.map(|block| block.as_ptr().as_ptr().cast::<U>().cast_const())
    }

    /// Computes a product with this left operand, on several threads if that pays.
    ///
    /// # Safety
    /// The requirements of [`super::multiply`].
    pub(crate) unsafe fn multiply(&self, p: &Product) -> Result<(), NoMemory> {
        // SAFETY: guaranteed by the caller; the kind is one of this processor.
        unsafe {
            of_dtype!(p.dtype, K => {
                let mut job = TiledProduct::<'_, K>::new(p, Prefetch::NONE);
                job.left = self.first(PackOrder::Rows).map_or(Left::Own, Left::Packed);
                job.run(p.work() >= super::PARALLEL)
            })
        }
    }

    /// Computes some rows of a product with this left operand, on this thread. The rows start at a multiple of a tile's
    /// rows.
    ///
    /// # Safety
    /// The requirements of [`super::multiply`]; the right operand has the product's columns.
    pub(crate) unsafe fn lowered(
        &self,
        p: &Product,
        rows: Range<usize>,
        right: &dyn Lowered,
    ) -> Result<(), NoMemory> {
        // SAFETY: guaranteed by the caller; the kind is one of this processor.
        unsafe {
            of_dtype!(p.dtype, K => {
                let mut job = TiledProduct::<'_, K>::new(p, Prefetch::NONE);
                job.lowered = Some(right);
                job.left = self.first(PackOrder::Rows).map_or(Left::Own, Left::Packed);
                job.block(rows, 0..p.n, Right::Own)
            })
        }
    }

    /// Computes some rows of a product with this left operand, on this thread; the right operand is in panels, in which the
    /// columns of a tile are contiguous. The rows start at a multiple of a tile's rows.
    ///
    /// # Safety
    /// The requirements of [`super::multiply`]; the panels have the product's columns and steps.
    pub(crate) unsafe fn by_panels(
        &self,
        p: &Product,
        rows: Range<usize>,
        panels: *const u8,
    ) -> Result<(), NoMemory> {
        // SAFETY: guaranteed by the caller; the kind is one of this processor.
        unsafe {
            of_dtype!(p.dtype, K => {
                let mut job = TiledProduct::<'_, K>::new(p, Prefetch::NONE);
                job.left = self.first(PackOrder::Transformed).map_or(Left::Own, Left::Packed);
                let count = p.n.div_ceil(TiledProduct::<'_, K>::WIDTH);
                job.block(rows, 0..p.n, Right::Panels(panels.cast(), 0, count))
            })
        }
    }

    /// Computes some rows and columns of a product with this left operand, on this thread; the first column is the first of
    /// the result. The rows start at a multiple of the panel width.
    ///
    /// # Safety
    /// The requirements of [`super::multiply`]; the columns have all steps.
    pub(crate) unsafe fn indirect(
        &self,
        p: &Product,
        rows: Range<usize>,
        columns: Range<usize>,
        seen: &Seen<'_>,
    ) -> Result<(), NoMemory> {
        // SAFETY: guaranteed by the caller; the kind is one of this processor, and its units are elements.
        unsafe {
            of_dtype!(p.dtype, K => {
                indirect::product::<K>(p, self.first(PackOrder::Panels), rows, columns, seen)
            })
        }
    }
}

/// # Safety
/// The requirements of [`Packed::new`]; the processor has the instructions of the kind.
unsafe fn pack<K: Kind>(p: &Product, order: PackOrder, threads: usize) -> Result<Block, NoMemory> {
    let packed;
    if order == PackOrder::Panels {
        let p = p.flipped();
        let job = TiledProduct::<'_, K>::new(&p, Prefetch::NONE);
        let wide = p.n.next_multiple_of(TiledProduct::<'_, K>::WIDTH);
        packed = room([wide, job.depth, size_of::<K::Unit>()])?;
        let to = packed.as_ptr().as_ptr().cast();
        // SAFETY: guaranteed by the caller; there is room for the panels.
        unsafe { job.pack_panels(0..p.n, to, threads)? };
    } else {
        let job = TiledProduct::<'_, K>::new(p, Prefetch::NONE);
        let strips = p.m.div_ceil(K::ROWS);
        let apart = job.depth + parts::<K>(job.depth).count();
        packed = room([strips, K::ROWS, apart, size_of::<K::Unit>()])?;
        let to = Writable(packed.as_ptr().as_ptr().cast::<K::Unit>());
        let pieces = if threads == 1 {
            1
        } else {
            strips.min(4 * threads)
        };
        let row = |piece: usize| (strips * piece / pieces * K::ROWS).min(p.m);
        try_each(pieces, &|piece| {
            let rows = row(piece)..row(piece + 1);
            for depth in parts::<K>(job.depth) {
                let to = to.get().wrapping_add(job.strip(rows.start, &depth));
                // SAFETY: guaranteed by the caller; each piece owns its strips.
                unsafe { job.pack_left(rows.clone(), depth, to)? };
            }
            Ok(())
        })?;
    }
    Ok(packed)
}
