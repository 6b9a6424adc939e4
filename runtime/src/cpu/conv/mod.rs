//! Windows that slide along dims.
//!
//! A convolution is a matrix product of the weight and of what the kernel sees at each position;
//! that matrix is made by blocks that stay in the cache. Kernels that see one channel, and
//! integers, go row by row without it.
use crate::job::Windows;

mod add;
pub(crate) mod columns;
pub(crate) mod convolve;
mod direct;
mod line;
mod lower;
mod number;
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

/// Bytes of a block that stays in a core's second-level cache beside what it is multiplied with.
const BLOCK: usize = 384 << 10;

/// The number of positions of a window.
fn positions(windows: &Windows) -> usize {
    windows.iter().map(|window| window.out).product()
}

/// The number of elements under a window.
fn taps(windows: &Windows) -> usize {
    windows.iter().map(|window| window.kernel).product()
}

/// The number of elements of what it slides over.
fn elements(windows: &Windows) -> usize {
    windows.iter().map(|window| window.size).product()
}
