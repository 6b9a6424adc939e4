//! Products whose right operand is read in place, through a table of the offset of each step: its columns are positions of a
//! window, and their elements overlap.

use std::ops::Range;

use nomina_core::{Element, Scalar};

use super::engine::{TiledProduct, parts, tallest};
use super::epilogue::Epilogue;
use super::indirect::Seen;
use super::kind::Kind;
use super::prefetch::StepPrefetch;
use super::tile::{Tile, TileEnd};
use crate::job::Product;

/// The number of columns that a few rows compute before their epilogue, which then finds them in the cache.
const GROUP: usize = 1024;

/// Computes a product whose columns are the positions of some lines, contiguous in the result, and its epilogue. An addend is
/// a bias: one number for each row.
///
/// # Safety
/// The requirements of [`super::multiply`], except for the right operand, which `seen` replaces: in each step, a vector that
/// begins in a line is readable to its end. The result's rows are contiguous; the processor has the instructions of the
/// kind, whose units are real elements.
pub(super) unsafe fn product<K: Kind>(p: &Product, lines: Range<usize>, seen: &Seen<'_>) {
    let strips = p.m.div_ceil(tallest::<K>(K::KERNELS.sliding, seen.length));
    // Tiles of nearly equal height.
    let start = |strip: usize| p.m * strip / strips;
    let together = (GROUP / seen.length.max(1)).max(1);
    let (end, after) = Epilogue::split::<K::Elem>(p);
    for first in lines.clone().step_by(together) {
        let group = first..lines.end.min(first + together);
        let column = (first - lines.start) * seen.length;
        for strip in 0..strips {
            let rows = start(strip)..start(strip + 1);
            let columns = group.len() * seen.length;
            let c = p.c.at::<K::Elem>(rows.start, column);
            // SAFETY: the strip's part of the matrices.
            unsafe {
                by_tiles::<K>(p, rows.clone(), group.clone(), seen, c, end);
                if let Some(after) = after {
                    after.rows(c.cast(), p.c.rows, rows.len(), columns);
                }
            }
        }
    }
}

/// Computes the sums of some rows, at most those of a tile, and some lines, from `c` on, and what tiles apply to them.
///
/// # Safety
/// The requirements of [`product`].
unsafe fn by_tiles<K: Kind>(
    p: &Product,
    rows: Range<usize>,
    lines: Range<usize>,
    seen: &Seen<'_>,
    c: *mut K::Elem,
    end: TileEnd,
) {
    let width = match p.m {
        1 => K::KERNELS.sliding_row.len() * K::LANES,
        _ => TiledProduct::<'_, K>::WIDTH,
    };
    let one = K::Elem::from_scalar(Scalar::Int(1));
    for depth in parts::<K>(p.k) {
        let first = seen.first.cast::<K::Unit>();
        let mut tile = Tile {
            rows: rows.len(),
            cols: width,
            depth: depth.len(),
            a: p.a.at::<K::Unit>(rows.start, depth.start).cast_const(),
            a_row: p.a.rows,
            a_step: p.a.cols,
            steps: seen.steps[depth.clone()].as_ptr(),
            b: first,
            b_step: 0,
            c,
            c_row: p.c.rows,
            alpha: K::Elem::from_scalar(p.alpha),
            beta: Some(one),
            d: c,
            d_row: p.c.rows,
            d_one: false,
            end: if depth.end == p.k {
                end
            } else {
                TileEnd::default()
            },
            ahead: StepPrefetch::none(first),
        };
        if depth.start == 0 {
            tile.beta = p.beta.map(K::Elem::from_scalar);
            if let Some(bias) = p.addend {
                tile.d = bias.at::<K::Elem>(rows.start, 0).cast_const();
                (tile.d_row, tile.d_one) = (bias.rows, true);
            }
        }
        for line in lines.clone() {
            let b = first.wrapping_add((seen.place)(line * seen.length));
            for left in (0..seen.length).step_by(width) {
                tile.b = b.wrapping_add(left);
                tile.cols = width.min(seen.length - left);
                if !tile.d_one {
                    tile.d = tile.c;
                }
                let vectors = tile.cols.div_ceil(K::LANES);
                let kernel = match rows.len() {
                    1 => K::KERNELS.sliding_row[vectors - 1],
                    count => K::KERNELS.sliding[vectors - 1][count - 1],
                };
                // SAFETY: guaranteed by the caller.
                unsafe { kernel(&tile) };
                tile.c = tile.c.wrapping_add(tile.cols);
            }
        }
    }
}
