//! Products of 16-bit floats: blocks go through `f32`, sums stay there, and are rounded once.
//!
//! (The crate `gemm` has `f16`, but rounds sums to 16 bits between parts of a long dim.)

use nomina_core::{DType, Scalar};

use super::by_gemm;
use crate::cpu::reduce::load::{Copy2, copy2};
use crate::cpu::reduce::split::{SmallScratch, try_for_each};
use crate::job::{Matrix, Product};
use crate::memory::NoMemory;

const ROWS: usize = 256;
const COLS: usize = 256;
const DEPTH: usize = 512;

/// One product.
///
/// # Safety
/// As for [`super::run`].
pub(super) unsafe fn product(p: &Product) -> Result<(), NoMemory> {
    let (down, across) = (p.m.div_ceil(ROWS), p.n.div_ceil(COLS));
    let p = *p;
    let work = (ROWS.min(p.m) * COLS.min(p.n)).saturating_mul(p.k) / 16;
    try_for_each(down * across, work, |index| {
        let (i, j) = (index / across * ROWS, index % across * COLS);
        let (m, n) = (ROWS.min(p.m - i), COLS.min(p.n - j));
        let depth = DEPTH.min(p.k);
        let (mut a, mut b, mut c) = (
            SmallScratch::bytes([m, depth, 4])?,
            SmallScratch::bytes([depth, n, 4])?,
            SmallScratch::bytes([m, n, 4])?,
        );
        let row_major = |scratch: &mut SmallScratch, cols: usize| Matrix {
            ptr: scratch.as_mut_ptr(),
            rows: cols as isize,
            cols: 1,
        };
        let mut part = Product {
            dtype: DType::F32,
            m,
            n,
            k: 0,
            a: row_major(&mut a, depth),
            b: row_major(&mut b, n),
            c: row_major(&mut c, n),
            ..p
        };
        let within = |matrix: Matrix, row: usize, col: usize| Matrix {
            ptr: matrix.at::<u16>(row, col).cast(),
            ..matrix
        };
        // SAFETY: the scratches have the sizes that are written; indices are within the matrices;
        // each task has a part of `c` of its own.
        unsafe {
            if p.beta.is_some() {
                convert(within(p.c, i, j), p.dtype, part.c, DType::F32, m, n);
            }
            for from in (0..p.k).step_by(DEPTH) {
                part.k = DEPTH.min(p.k - from);
                part.a.rows = part.k as isize;
                convert(within(p.a, i, from), p.dtype, part.a, DType::F32, m, part.k);
                convert(within(p.b, from, j), p.dtype, part.b, DType::F32, part.k, n);
                by_gemm::<f32>(&part, false);
                part.beta = Some(Scalar::Float(1.0));
            }
            if p.k == 0 {
                by_gemm::<f32>(&part, false);
            }
            convert(part.c, DType::F32, within(p.c, i, j), p.dtype, m, n);
        }
        Ok(())
    })
}

unsafe fn convert(src: Matrix, from: DType, dst: Matrix, to: DType, rows: usize, cols: usize) {
    // SAFETY: the caller's blocks have so many rows and columns.
    unsafe {
        copy2(Copy2 {
            src: src.ptr,
            from,
            strides: [src.rows, src.cols],
            dst: dst.ptr,
            to,
            into: [dst.rows, dst.cols],
            rows,
            cols,
        });
    }
}
