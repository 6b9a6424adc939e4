//! Windows that slide along dims.
//!
//! A convolution is the matrix product of the weight and the elements under the window at each
//! position; that matrix is built in blocks that stay in the cache. Convolutions of one channel and
//! few outputs per group, and those of integers, go row by row without it.
use crate::job::WindowDims;

mod add;
pub(crate) mod columns;
pub(crate) mod convolve;
mod direct;
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
pub(crate) mod spread;
pub(crate) mod transpose;
pub(crate) mod unpool;
pub(crate) mod weight;

/// Bytes of a block that stays in a core's second-level cache together with the other operand.
const BLOCK: usize = 384 << 10;

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
