//! Resizing of planes, and elements picked dim by dim.

use nomina_core::DType;

use super::Constant;

/// One dim's new size.
#[derive(Clone, Copy, Debug)]
pub struct Resize {
    /// The dim.
    pub dim: usize,
    /// Its size in the result.
    pub size: usize,
    /// The scale factor, if it is not the quotient of the sizes.
    pub factor: Option<f64>,
}

/// Interpolation of a dim from one size to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ResampledDim {
    /// The dim's size.
    pub(crate) size: usize,
    /// Its size in the result.
    pub(crate) out: usize,
    /// The distance of adjacent result elements, in input elements.
    pub(crate) scale: f64,
    /// Whether the corner elements are aligned instead of the edges.
    pub(crate) corners: bool,
    /// Whether interpolation is cubic, with four taps, instead of linear, with two.
    pub(crate) cubic: bool,
}

impl ResampledDim {
    /// Creates the interpolation of a dim of `size` elements.
    pub(crate) fn new(size: usize, resize: &Resize, align_corners: bool, cubic: bool) -> Self {
        let out = resize.size;
        // At equal sizes linear interpolation is the identity, whatever the factor, as in PyTorch.
        let corners = align_corners || (out == size && !cubic);
        let scale = match resize.factor {
            _ if out == size && !cubic => 1.0,
            _ if align_corners && out > 1 => (size as f64 - 1.0) / (out as f64 - 1.0),
            _ if align_corners => 0.0,
            Some(factor) => 1.0 / factor,
            None => size as f64 / out as f64,
        };
        Self {
            size,
            out,
            scale,
            corners,
            cubic,
        }
    }

    /// Returns the number of taps per element.
    pub(crate) fn each(&self) -> usize {
        if self.cubic { 4 } else { 2 }
    }

    /// Returns the position of result element `i` in input elements.
    fn place(&self, i: usize) -> f64 {
        if self.corners {
            self.scale * i as f64
        } else {
            self.scale * (i as f64 + 0.5) - 0.5
        }
    }

    /// Returns the taps of result element `i` and their weights; only the first [`ResampledDim::each`] are used.
    pub(crate) fn taps(&self, i: usize) -> ([usize; 4], [f64; 4]) {
        let (at, last) = (self.place(i), self.size - 1);
        if self.cubic {
            let (first, part) = (at.floor() as isize, at - at.floor());
            let index =
                [-1, 0, 1, 2].map(|k| first.saturating_add(k).clamp(0, last as isize) as usize);
            let weight = [
                far(part + 1.0),
                near(part),
                near(1.0 - part),
                far(2.0 - part),
            ];
            return (index, weight);
        }
        let at = at.max(0.0);
        let first = (at as usize).min(last);
        let part = (at - first as f64).clamp(0.0, 1.0);
        // At equal sizes no neighbour is used: an infinite one would not vanish with a weight of zero.
        let next = if self.out == self.size {
            first
        } else {
            first + 1
        };
        ([first, next.min(last), 0, 0], [1.0 - part, part, 0.0, 0.0])
    }
}

/// Keys' cubic kernel with a = -0.75, as in PyTorch, for distances up to one.
fn near(x: f64) -> f64 {
    ((SLOPE + 2.0) * x - (SLOPE + 3.0)) * x * x + 1.0
}

/// Like `near`, but for distances from one to two.
fn far(x: f64) -> f64 {
    ((SLOPE * x - 5.0 * SLOPE) * x + 8.0 * SLOPE) * x - 4.0 * SLOPE
}

const SLOPE: f64 = -0.75;

/// Planes resampled along their dims, for a backend: contiguous and row-major.
pub(crate) struct ResampleJob<'a> {
    /// The operator that errors name.
    pub(crate) op: &'static str,
    pub(crate) dtype: DType,
    pub(crate) planes: usize,
    /// One to three dims.
    pub(crate) dims: &'a [ResampledDim],
    pub(crate) x: *const u8,
    pub(crate) out: *mut u8,
}

// SAFETY: contains only addresses and numbers; the code that uses them explains why tasks do not conflict.
unsafe impl Sync for ResampleJob<'_> {}

/// Elements picked dim by dim, for a backend. The result is row-major.
pub(crate) struct SpreadJob<'a> {
    /// The operator that errors name.
    pub(crate) op: &'static str,
    /// The bytes of an element.
    pub(crate) element: usize,
    pub(crate) shape: &'a [usize],
    /// For each dim, the input index of each output index, -1 for `value`; `None` for the identity.
    pub(crate) maps: &'a [Option<Vec<isize>>],
    pub(crate) x: *const u8,
    /// Strides in elements.
    pub(crate) x_strides: &'a [isize],
    pub(crate) value: Constant,
    pub(crate) out: *mut u8,
}

// SAFETY: contains only addresses and numbers; the code that uses them explains why tasks do not conflict.
unsafe impl Sync for SpreadJob<'_> {}
