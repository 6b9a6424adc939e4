//! The layout of operands of products in the form of kernels: the structs of `tile.cuh`.

use nomina_core::Result;

use crate::SmallVec;
use crate::job::Matrix;

/// The most dims over which a kernel repeats. Each index of further dims is a launch.
pub(super) const REPEATS: usize = 6;

/// A matrix: its address, and strides in elements.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct Side {
    at: u64,
    rows: i64,
    cols: i64,
}

impl Side {
    /// Returns a matrix offset by `shift` elements of `size` bytes.
    pub(super) fn new(matrix: Matrix, shift: isize, size: usize) -> Self {
        let at = matrix.ptr.wrapping_offset(shift * size as isize);
        Self {
            at: at as u64,
            rows: matrix.rows as i64,
            cols: matrix.cols as i64,
        }
    }

    /// A missing operand.
    pub(super) const NONE: Self = Self {
        at: 0,
        rows: 0,
        cols: 0,
    };
}

/// Sizes, and strides of `N` operands, innermost dim first.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct TileRepeats<const N: usize> {
    sizes: [i64; REPEATS],
    steps: [[i64; REPEATS]; N],
    rank: u32,
    pad: u32,
}

/// A dim over which matrices repeat: its size, and the stride of each operand in elements.
pub(super) type RepeatedDim<const N: usize> = (usize, [isize; N]);

/// Dims over which matrices repeat, outermost first.
pub(super) type RepeatedDims<const N: usize> = SmallVec<[RepeatedDim<N>; 4]>;

/// Drops dims of size 1, and merges dims that are contiguous in all operands.
pub(super) fn merged<const N: usize>(
    dims: impl IntoIterator<Item = RepeatedDim<N>>,
) -> RepeatedDims<N> {
    let mut out = RepeatedDims::<N>::new();
    for (size, steps) in dims {
        if size == 1 {
            continue;
        }
        match out.last_mut() {
            Some((outer, last)) if (0..N).all(|i| last[i] == steps[i] * size as isize) => {
                *outer *= size;
                *last = steps;
            }
            _ => out.push((size, steps)),
        }
    }
    out
}

/// Returns the number of indices of dims.
pub(super) fn count<const N: usize>(dims: &[RepeatedDim<N>]) -> usize {
    dims.iter().map(|(size, _)| size).product()
}

/// Calls `f` for every index of `dims`, with the offset of each operand in elements.
pub(super) fn walk<const N: usize>(
    dims: &[RepeatedDim<N>],
    mut f: impl FnMut([isize; N]) -> Result<()>,
) -> Result<()> {
    for nth in 0..count(dims) {
        let (mut left, mut at) = (nth, [0; N]);
        for (size, steps) in dims.iter().rev() {
            for (at, step) in at.iter_mut().zip(steps) {
                *at += (left % size) as isize * step;
            }
            left /= size;
        }
        f(at)?;
    }
    Ok(())
}

impl<const N: usize> TileRepeats<N> {
    /// Splits dims into the inner ones, in the form of kernels, and the outer ones beyond [`REPEATS`].
    pub(super) fn new(dims: &[RepeatedDim<N>]) -> (Self, &[RepeatedDim<N>]) {
        let (outer, inner) = dims.split_at(dims.len().saturating_sub(REPEATS));
        let mut this = Self {
            sizes: [1; REPEATS],
            steps: [[0; REPEATS]; N],
            rank: inner.len() as u32,
            pad: 0,
        };
        for (at, (size, steps)) in inner.iter().rev().enumerate() {
            this.sizes[at] = *size as i64;
            for (operand, &step) in steps.iter().enumerate() {
                this.steps[operand][at] = step as i64;
            }
        }
        (this, outer)
    }

    /// Returns the number of matrices.
    pub(super) fn count(&self) -> usize {
        self.sizes.iter().map(|&size| size as usize).product()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dims_that_go_on_are_one() {
        let dims = [(2, [60, 0]), (1, [7, 7]), (3, [20, 0]), (5, [4, 4])];
        let dims = merged(dims);
        assert_eq!(&dims[..], [(6, [20, 0]), (5, [4, 4])]);
        let mut seen = Vec::new();
        walk(&dims, |at| {
            seen.push(at);
            Ok(())
        })
        .unwrap();
        assert_eq!(seen.len(), 30);
        // The second of six, and in it the third of five.
        assert_eq!(seen[7], [20 + 2 * 4, 2 * 4]);
    }

    #[test]
    fn outer_dims_are_left() {
        let dims: Vec<RepeatedDim<1>> = (0..8).map(|i| (2, [1 << (2 * (8 - i))])).collect();
        let (repeats, outer) = TileRepeats::new(&dims);
        assert_eq!(repeats.count(), 64);
        assert_eq!(outer, &dims[..2]);
        assert_eq!(repeats.steps[0][0], 4);
    }
}
