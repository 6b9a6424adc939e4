//! Copying blocks of elements into the dtype and order that a kernel needs.

use nomina_core::DType;

use crate::cpu::cast::Cast;

/// A block of elements to copy and convert. Strides, of rows and columns, are in elements.
#[derive(Clone, Copy)]
pub(crate) struct Copy2 {
    pub src: *const u8,
    pub from: DType,
    pub strides: [isize; 2],
    pub dst: *mut u8,
    pub to: DType,
    pub into: [isize; 2],
    pub rows: usize,
    pub cols: usize,
}

/// Copies a block.
///
/// # Safety
/// All elements of the block are readable, those of the copy writable; they do not overlap.
pub(crate) unsafe fn copy2(block: Copy2) {
    let Copy2 {
        src,
        from,
        mut strides,
        dst,
        to,
        mut into,
        mut rows,
        mut cols,
    } = block;
    let apart = |strides: [isize; 2], cols: usize| strides[0] == strides[1] * cols as isize;
    // The inner loop is the dim with the smaller stride, unless it is too short to be worth a call and
    // does not merge with the outer one.
    let on = apart(strides, cols) && apart(into, cols);
    let short = cols < 4 && rows > cols && !on;
    if short || (strides[0].abs() < strides[1].abs() && rows >= 16) {
        strides.swap(0, 1);
        into.swap(0, 1);
        (rows, cols) = (cols, rows);
    }
    if rows > 1 && apart(strides, cols) && apart(into, cols) {
        cols *= rows;
        rows = 1;
    }
    let (from_size, to_size) = (from.size() as isize, to.size() as isize);
    let cast = Cast::new(from, to);
    for row in 0..rows as isize {
        // SAFETY: guaranteed by the caller.
        unsafe {
            cast.run(
                cols,
                src.wrapping_offset(row * strides[0] * from_size),
                strides[1] * from_size,
                dst.wrapping_offset(row * into[0] * to_size),
                into[1] * to_size,
            );
        }
    }
}
