//! Products whose right operand is read in place, through a table of the offset of each step: its columns are positions of a
//! window, and their elements overlap.

use nomina_core::{Element, Scalar};

use super::engine::{TiledProduct, parts};
use super::kind::Kind;
use super::prefetch::StepPrefetch;
use super::tile::Tile;
use crate::job::Product;

/// Adjacent positions of a window. Their elements are contiguous in each step, and a vector that begins among them is
/// readable to its end.
pub(crate) struct SlidingLine<'a> {
    /// The first position's element at an offset of 0, of the product's dtype.
    pub first: *const u8,
    /// The offset of each step of the inner dim, in elements from `first`.
    pub steps: &'a [usize],
    /// The number of positions.
    pub length: usize,
}

/// Computes a product whose columns are the positions of a line, without its epilogue. An addend is a bias: one number for
/// each row.
///
/// # Safety
/// The requirements of [`super::multiply`], except for the right operand, which `seen` replaces; the result's rows are
/// contiguous; the processor has the instructions of the kind, whose units are real elements.
pub(super) unsafe fn line<K: Kind>(p: &Product, seen: &SlidingLine<'_>) {
    let kernel = |rows: usize, vectors: usize| match rows {
        1 => K::KERNELS.sliding_row[vectors - 1],
        _ => K::KERNELS.sliding[vectors - 1][rows - 1],
    };
    let strips = p.m.div_ceil(K::ROWS);
    let one = K::Elem::from_scalar(Scalar::Int(1));
    // Tiles of nearly equal height.
    let start = |strip: usize| p.m * strip / strips;
    let width = match p.m {
        1 => K::KERNELS.sliding_row.len() * K::LANES,
        _ => TiledProduct::<'_, K>::WIDTH,
    };
    for strip in 0..strips {
        let rows = start(strip)..start(strip + 1);
        for depth in parts::<K>(p.k) {
            for left in (0..seen.length).step_by(width) {
                let c = p.c.at::<K::Elem>(rows.start, left);
                let b = seen.first.cast::<K::Unit>().wrapping_add(left);
                let mut tile = Tile {
                    rows: rows.len(),
                    cols: width.min(seen.length - left),
                    depth: depth.len(),
                    a: p.a.at::<K::Unit>(rows.start, depth.start).cast_const(),
                    a_row: p.a.rows,
                    a_step: p.a.cols,
                    steps: seen.steps[depth.clone()].as_ptr(),
                    b,
                    b_step: 0,
                    c,
                    c_row: p.c.rows,
                    alpha: K::Elem::from_scalar(p.alpha),
                    beta: Some(one),
                    d: c.cast_const(),
                    d_row: p.c.rows,
                    d_one: false,
                    ahead: StepPrefetch::none(b),
                };
                if depth.start == 0 {
                    tile.beta = p.beta.map(K::Elem::from_scalar);
                    if let Some(bias) = p.addend {
                        tile.d = bias.at::<K::Elem>(rows.start, 0).cast_const();
                        (tile.d_row, tile.d_one) = (bias.rows, true);
                    }
                }
                let kernel = kernel(rows.len(), tile.cols.div_ceil(K::LANES));
                // SAFETY: guaranteed by the caller: in each step, the vectors of these columns are readable.
                unsafe { kernel(&tile) };
            }
        }
    }
}
