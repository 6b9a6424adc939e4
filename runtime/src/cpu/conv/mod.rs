//! Windows that slide along dims.
//!
//! A convolution is the matrix product of the weight and the elements under the window at each
//! position; that matrix is built in blocks that stay in the cache. Convolutions of one channel and
//! few outputs per group, and those of integers, go row by row without it. For few outputs, or few elements under the
//! window, tiles read the padded input in place.
use nomina_core::Scalar;

use crate::job::{ConvJob, Matrix, Product, WindowDims};
use number::compute;

mod add;
pub(crate) mod columns;
pub(crate) mod convolve;
mod direct;
pub(crate) mod kept;
mod line;
mod lower;
mod number;
mod outer;
mod panels;
mod pieces;
mod planes;
pub(crate) mod pool;
pub(crate) mod resample;
mod share;
mod sliding;
pub(crate) mod spread;
pub(crate) mod transpose;
pub(crate) mod unpool;
pub(crate) mod weight;
mod winograd;

/// Bytes of a block that stays in a core's second-level cache together with the other operand.
const BLOCK: usize = 384 << 10;

/// Returns the first input element of a unit, which is a group of an element of the batch, and the unit's rows of the result.
fn locate(job: &ConvJob<'_>, unit: usize) -> (*const u8, Matrix) {
    let (n, group) = ((unit / job.groups) as isize, unit % job.groups);
    let size = job.dtype.size() as isize;
    let x = n * job.x_strides[0] + (group * job.channels) as isize * job.x_strides[1];
    let [batch, rows, cols] = job.out_strides;
    let out = n * batch + (group * job.outs) as isize * rows;
    let out = Matrix {
        ptr: job.out.wrapping_offset(out * size),
        rows,
        cols,
    };
    (job.x.wrapping_offset(x * size), out)
}

/// Returns the product of a group's weight and of columns that are filled in later: the number, the right operand, and the
/// result. A bias is its addend.
fn group_product(job: &ConvJob<'_>, group: usize) -> Product {
    let depth = crate::shape::product([job.channels, taps(&job.windows)]);
    let nowhere = Matrix {
        ptr: std::ptr::null_mut(),
        rows: 0,
        cols: 1,
    };
    let (first, dtype) = (group * job.outs, compute(job.dtype));
    let bias = job.bias.map(|bias| Matrix {
        ptr: bias.wrapping_add(first * dtype.size()).cast_mut(),
        rows: 1,
        cols: 0,
    });
    let weight = job.weight.wrapping_add(first * depth * dtype.size());
    Product {
        dtype,
        m: job.outs,
        k: depth,
        n: 0,
        a: Matrix {
            ptr: weight.cast_mut(),
            rows: depth as isize,
            cols: 1,
        },
        b: nowhere,
        c: nowhere,
        alpha: Scalar::Int(1),
        beta: bias.map(|_| Scalar::Int(1)),
        addend: bias,
        after: job.after,
    }
}

/// Returns the number of positions of a window.
fn positions(windows: &WindowDims) -> usize {
    windows.iter().map(|window| window.out).product()
}

/// Returns the number of elements under a window.
fn taps(windows: &WindowDims) -> usize {
    windows.iter().map(|window| window.kernel).product()
}

/// Returns the number of elements that the window slides over.
fn elements(windows: &WindowDims) -> usize {
    windows.iter().map(|window| window.size).product()
}
