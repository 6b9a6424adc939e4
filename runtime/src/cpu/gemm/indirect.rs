//! Products whose left operand is read in place, through a table of the offset of each step, for rows that come in
//! lines: the indirect convolution of Dukhan (<https://arxiv.org/abs/1907.02129>).

use std::ops::Range;

use nomina_core::{Element, Scalar};

use super::engine::{TiledProduct, parts, tallest};
use super::epilogue::Epilogue;
use super::kind::Kind;
use super::pack::Part;
use super::prefetch::{Prefetch, StepPrefetch};
use super::share::room;
use super::tile::{Tile, TileEnd};
use crate::cpu::reduce::load::{Copy2, copy2};
use crate::job::Product;
use crate::memory::NoMemory;

/// Columns of the result that are computed before they are written.
const GROUP: usize = 128;

/// The operand that is read indirectly, in lines. Within a step, the elements of a line are contiguous.
pub(crate) struct Seen<'a> {
    /// The first element, of the product's dtype.
    pub first: *const u8,
    /// The offset of each step of the inner dim, in elements from `first`.
    pub steps: &'a [usize],
    /// Returns the offset of a column of the result, in elements.
    pub place: &'a dyn Fn(usize) -> usize,
    /// The number of elements of a line in one step.
    pub length: usize,
}

impl Seen<'_> {
    /// Returns the columns from `start` on that are computed together: some lines, or part of one, in multiples of `rows`.
    fn group(&self, start: usize, rows: usize) -> Range<usize> {
        let line = start / self.length;
        let end = match GROUP / self.length {
            0 => (start + part_of_line(self.length, rows)).min((line + 1) * self.length),
            lines => (line + lines) * self.length,
        };
        start..end
    }
}

/// Returns the number of columns of a line that are computed together: all, or parts of about equal size.
pub(crate) fn part_of_line(length: usize, rows: usize) -> usize {
    let parts = length.div_ceil(GROUP).max(1);
    length.div_ceil(parts).next_multiple_of(rows).min(length)
}

/// The sum over steps of the outer products of some rows, which are read in place, and one panel. A step of the panel is
/// as wide as a tile; the rows are contiguous within a step, and at most those of a tile of the panel's columns.
pub(crate) struct OuterSum<'a> {
    /// The first row's element, of the product's dtype.
    pub first: *const u8,
    /// The offset of each step, in elements from `first`.
    pub steps: &'a [usize],
    pub rows: usize,
    pub panel: *const u8,
    /// Columns of the panel that are needed.
    pub columns: usize,
    /// The sums, a row of the panel's width for each row.
    pub sums: *mut u8,
    /// Whether there are earlier sums, to which these are added.
    pub adds: bool,
}

/// Computes a sum of outer products.
///
/// # Safety
/// All elements are in bounds, and nobody else uses the sums meanwhile; the processor has the instructions of the kind,
/// whose units are elements.
pub(super) unsafe fn add_outer<K: Kind>(sum: &OuterSum<'_>) {
    let width = TiledProduct::<'_, K>::WIDTH;
    let (b, c) = (sum.panel.cast(), sum.sums.cast::<K::Elem>());
    let one = K::Elem::from_scalar(Scalar::Int(1));
    let vectors = sum.columns.div_ceil(K::LANES);
    let tile = Tile {
        rows: sum.rows,
        cols: vectors * K::LANES,
        depth: sum.steps.len(),
        a: sum.first.cast(),
        a_row: 1,
        a_step: 0,
        steps: sum.steps.as_ptr(),
        b,
        b_step: width as isize,
        c,
        c_row: width as isize,
        alpha: one,
        beta: sum.adds.then_some(one),
        d: c,
        d_row: width as isize,
        d_one: false,
        end: TileEnd::default(),
        ahead: StepPrefetch::none(sum.first),
    };
    // SAFETY: guaranteed by the caller.
    unsafe { K::KERNELS.indirect[vectors - 1][sum.rows - 1](&tile) };
}

/// Computes some rows of a product, starting at a multiple of the panel width, and some columns, of which the first is the
/// first of the result. If `packed` is given, it is the whole left operand in panels; otherwise each panel is packed here.
///
/// Sums are accumulated in the same order as in other products.
///
/// # Safety
/// The requirements of [`super::multiply`], except for the right operand, which `seen` replaces; the columns have all
/// steps; the processor has the instructions of the kind, whose units are elements.
pub(super) unsafe fn product<K: Kind>(
    p: &Product,
    packed: Option<*const K::Unit>,
    outs: Range<usize>,
    columns: Range<usize>,
    seen: &Seen<'_>,
) -> Result<(), NoMemory> {
    debug_assert_eq!(p.beta.is_some(), p.addend.is_some(), "a bias, or nothing");
    let width = TiledProduct::<'_, K>::WIDTH;
    let flipped = p.flipped();
    let job = TiledProduct::<'_, K>::new(&flipped, Prefetch::NONE);
    let own = match packed {
        Some(_) => None,
        None => Some(room([job.depth, width, size_of::<K::Unit>()])?),
    };
    // The bias of a panel, followed by a row for each column.
    let rows = tallest::<K>(K::KERNELS.indirect, outs.len());
    let most = columns.len().min(GROUP + rows);
    let sums = room([most.saturating_add(1), width, size_of::<K::Elem>()])?;
    let bias = sums.as_ptr().as_ptr().cast::<K::Elem>();
    let sums = bias.wrapping_add(width);
    let (mut end, mut after) = Epilogue::split::<K::Elem>(p);
    if end.plus.is_some() {
        // Tiles have the result's columns as rows.
        (end, after) = (TileEnd::default(), Epilogue::new(p));
    }
    let group = |start: usize| {
        let group = seen.group(start, rows);
        start..group.end.min(columns.end)
    };
    // Computes the columns of a group and of one panel, given as the packed buffer, its number of panels and the panel's
    // index.
    let compute = |left: usize, panel, group: Range<usize>| -> Result<(), NoMemory> {
        let wide = width.min(outs.end - left);
        let column = group.start - columns.start;
        // SAFETY: the parts are within the matrices; the scratch is large enough.
        unsafe {
            if let Some(addend) = p.addend {
                for at in 0..width {
                    let value = addend.at::<K::Elem>(left + at.min(wide - 1), 0);
                    bias.add(at).write(value.read());
                }
            }
            let last = columns.end - 1;
            by_tiles::<K>(
                &job,
                (panel, wide),
                group.clone(),
                last,
                seen,
                [bias, sums],
                end,
            );
            transpose::<K>(p, [left, column], [wide, group.len()], sums)?;
            if let Some(after) = after {
                let c = p.c.at::<K::Elem>(left, column).cast();
                after.rows(c, p.c.rows, wide, group.len());
            }
        }
        Ok(())
    };
    let mut first = columns.start;
    while first < columns.end {
        // A long line would leave the cache before the next panel reads it, but a panel that is packed here serves all columns.
        let stop = match packed {
            Some(_) if seen.length > GROUP => group(first).end,
            _ => columns.end,
        };
        for left in outs.clone().step_by(width) {
            let wide = width.min(outs.end - left);
            let panel = match (packed, &own) {
                (Some(all), _) => (all, p.m.div_ceil(width), left / width),
                (None, own) => {
                    let own = own.as_ref().map(|own| own.as_ptr().as_ptr().cast());
                    let to = own.unwrap_or(std::ptr::null_mut::<K::Unit>());
                    for depth in parts::<K>(job.depth) {
                        let to = to.wrapping_add(TiledProduct::<'_, K>::place(1, 0, &depth));
                        // SAFETY: columns of the flipped right operand, for which there is room.
                        unsafe { job.pack_right(depth, left, wide, to)? };
                    }
                    (to.cast_const(), 1, 0)
                }
            };
            let mut start = first;
            while start < stop {
                let group = group(start);
                compute(left, panel, group.clone())?;
                start = group.end;
            }
        }
        first = stop;
    }
    Ok(())
}

/// Computes the sums of some columns and one panel, given as the packed buffer, its number of panels, the panel's index
/// and its number of columns. `last` is the last column of the whole product.
///
/// # Safety
/// The requirements of [`product`].
unsafe fn by_tiles<K: Kind>(
    job: &TiledProduct<'_, K>,
    ((all, count, panel), wide): ((*const K::Unit, usize, usize), usize),
    columns: Range<usize>,
    last: usize,
    seen: &Seen<'_>,
    [bias, sums]: [*mut K::Elem; 2],
    end: TileEnd,
) {
    let width = TiledProduct::<'_, K>::WIDTH;
    let vectors = wide.div_ceil(K::LANES);
    let kernels = K::KERNELS.indirect[vectors - 1];
    for depth in parts::<K>(job.depth) {
        let begins = depth.start == 0;
        let b = all.wrapping_add(TiledProduct::<'_, K>::place(count, panel, &depth));
        let mut c = sums;
        let mut from = columns.start;
        while from < columns.end {
            // To the end of the line, by tiles of nearly equal height.
            let to = columns.end.min((from / seen.length + 1) * seen.length);
            let pieces = (to - from).div_ceil(kernels.len());
            let start = |piece: usize| (to - from) * piece / pieces;
            let at = |column| {
                let first = seen.first.cast::<K::Unit>();
                first.wrapping_add((seen.place)(column))
            };
            // The next line is prefetched: the hardware does not follow a stream for each step.
            let (a, next) = (at(from), at(last.min(to)));
            for piece in 0..pieces {
                let rows = start(piece)..start(piece + 1);
                let tile = Tile {
                    rows: rows.len(),
                    cols: vectors * K::LANES,
                    depth: depth.len(),
                    a: a.wrapping_add(rows.start),
                    a_row: 1,
                    a_step: 0,
                    steps: seen.steps[depth.clone()].as_ptr(),
                    b,
                    b_step: width as isize,
                    c,
                    c_row: width as isize,
                    alpha: job.alpha,
                    beta: if begins {
                        job.beta
                    } else {
                        Some(K::Elem::from_scalar(Scalar::Int(1)))
                    },
                    d: if begins { bias } else { c },
                    d_row: if begins { 0 } else { width as isize },
                    d_one: false,
                    end: if depth.end == job.depth {
                        end
                    } else {
                        TileEnd::default()
                    },
                    ahead: StepPrefetch::none(next.wrapping_add(rows.start)),
                };
                // SAFETY: the columns have all steps; the panel has the tile's columns.
                unsafe { kernels[rows.len() - 1](&tile) };
                c = c.wrapping_add(rows.len() * width);
            }
            from = to;
        }
    }
}

/// Transposes sums, which are columns of the result, into the result.
///
/// # Safety
/// The requirements of [`product`]; `sums` has this number of columns.
unsafe fn transpose<K: Kind>(
    p: &Product,
    [row, column]: [usize; 2],
    [rows, columns]: [usize; 2],
    sums: *const K::Elem,
) -> Result<(), NoMemory> {
    let width = TiledProduct::<'_, K>::WIDTH;
    // Whole vectors only, so that nothing is written out of bounds.
    let beside = p.c.cols == 1 && p.c.rows >= columns as isize;
    let whole = if beside {
        columns - columns % K::LANES
    } else {
        0
    };
    let part = Part {
        ptr: sums.cast(),
        dtype: p.dtype,
        steps: rows,
        step: 1,
        others: whole,
        other: width as isize,
    };
    let rest = Copy2 {
        src: sums.wrapping_add(whole * width).cast(),
        from: p.dtype,
        strides: [1, width as isize],
        dst: p.c.at::<K::Elem>(row, column + whole).cast(),
        to: p.dtype,
        into: [p.c.rows, p.c.cols],
        rows,
        cols: columns - whole,
    };
    // SAFETY: rows and columns of the result, guaranteed by the caller.
    unsafe {
        if whole > 0 {
            let to = p.c.at::<K::Unit>(row, column);
            K::pack(part, to, p.c.rows.unsigned_abs())?;
        }
        copy2(rest);
    }
    Ok(())
}
