//! Products that have one operand in common, packed once, while the other is nowhere a matrix: it is written where it is packed.

use std::ops::Range;

use nomina_core::DType;
use num_complex::Complex;

use super::at_level;
use super::engine::{Job, Left, Right, parts};
use super::indirect::{self, Seen};
use super::kind::{Kind, Tiled};
use super::prefetch::Prefetch;
use super::share::{Writable, room};
use super::tile::VECTORS;
use crate::cpu::parallel::try_each;
use crate::cpu::simd::Level;
use crate::job::Product;
use crate::memory::{Block, NoMemory};

/// A right operand that is written when it is packed.
pub(crate) trait Lowered: Sync {
    /// Writes steps along the inner dim of some columns: elements of a step side by side, steps `apart` elements from each other;
    /// zeros up to there. Elements are of the product's dtype.
    ///
    /// # Safety
    /// There is room for so many times `apart`.
    unsafe fn write(&self, steps: Range<usize>, columns: Range<usize>, to: *mut u8, apart: usize);
}

/// What is said for the kind of tiles that multiply a dtype.
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

/// What tiles of a dtype have: rows, vectors beside each other, lanes of each, and steps that are packed at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub rows: usize,
    pub vectors: usize,
    pub lanes: usize,
    pub depth: usize,
}

impl Shape {
    /// That of a dtype.
    pub(crate) fn of(dtype: DType) -> Self {
        of_dtype!(dtype, K => Shape {
            rows: K::ROWS,
            vectors: VECTORS,
            lanes: K::LANES,
            depth: K::DEPTH,
        })
    }

    /// Columns of a tile.
    pub(crate) fn width(&self) -> usize {
        self.vectors * self.lanes
    }
}

/// The left operand of products, as they find it.
pub(crate) struct Packed {
    /// All of it; without it products pack what they need.
    block: Option<Block>,
    /// How products read it.
    order: Order,
}

/// How a left operand is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// In rows of tiles, for [`Packed::lowered`].
    Rows,
    /// In panels, as a right operand is, for [`Packed::indirect`].
    Panels,
}

impl Packed {
    /// Packs that of a product, whose `n` and other matrices do not matter, on so many threads.
    ///
    /// # Safety
    /// The operand lies where it says; its elements are of the product's dtype, which is multiplied by tiles.
    pub(crate) unsafe fn new(p: &Product, order: Order, threads: usize) -> Result<Self, NoMemory> {
        // SAFETY: the caller's promise; kinds are those of the processor.
        let block = unsafe { of_dtype!(p.dtype, K => pack::<K>(p, order, threads)) }?;
        Ok(Self {
            block: Some(block),
            order,
        })
    }

    /// Leaves it where it lies: for products that are so few that packing all of it at once is no gain.
    pub(crate) fn later(order: Order) -> Self {
        Self { block: None, order }
    }

    /// The first unit of what is packed.
    fn first<U>(&self, order: Order) -> Option<*const U> {
        assert_eq!(self.order, order, "packed in another order");
        let block = self.block.as_ref();
        block.map(|block| block.as_ptr().as_ptr().cast::<U>().cast_const())
    }

    /// Computes some rows of a product whose left operand this is, on this thread. They start at a multiple of a tile's rows.
    ///
    /// # Safety
    /// As of [`super::multiply`]; the right operand has the product's columns.
    pub(crate) unsafe fn lowered(
        &self,
        p: &Product,
        rows: Range<usize>,
        right: &dyn Lowered,
    ) -> Result<(), NoMemory> {
        // SAFETY: the caller's promise; kinds are those of the processor.
        unsafe {
            of_dtype!(p.dtype, K => {
                let mut job = Job::<'_, K>::new(p, Prefetch::NONE);
                job.lowered = Some(right);
                job.left = self.first(Order::Rows).map_or(Left::Own, Left::Packed);
                job.block(rows, 0..p.n, Right::Own)
            })
        }
    }

    /// Computes some rows of a product whose left operand this is, on this thread, and a column for each element of the lines. They
    /// start at a multiple of a panel's.
    ///
    /// # Safety
    /// As of [`super::multiply`]; the lines have all steps.
    pub(crate) unsafe fn indirect(
        &self,
        p: &Product,
        rows: Range<usize>,
        lines: Range<usize>,
        seen: &Seen<'_>,
    ) -> Result<(), NoMemory> {
        // SAFETY: the caller's promise; kinds are those of the processor, whose units are elements.
        unsafe {
            of_dtype!(p.dtype, K => {
                indirect::product::<K>(p, self.first(Order::Panels), rows, lines, seen)
            })
        }
    }
}

/// # Safety
/// As of [`Packed::new`]; the processor has the instructions of the kind.
unsafe fn pack<K: Kind>(p: &Product, order: Order, threads: usize) -> Result<Block, NoMemory> {
    let packed;
    if order == Order::Panels {
        let p = p.flipped();
        let job = Job::<'_, K>::new(&p, Prefetch::NONE);
        let wide = p.n.next_multiple_of(Job::<'_, K>::WIDTH);
        packed = room([wide, job.depth, size_of::<K::Unit>()])?;
        let to = packed.as_ptr().as_ptr().cast();
        // SAFETY: the caller's promise; there is room for the panels.
        unsafe { job.pack_panels(0..p.n, to, threads)? };
    } else {
        let job = Job::<'_, K>::new(p, Prefetch::NONE);
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
                // SAFETY: the caller's promise; each piece has strips of its own.
                unsafe { job.pack_left(rows.clone(), depth, to)? };
            }
            Ok(())
        })?;
    }
    Ok(packed)
}
