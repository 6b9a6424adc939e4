//! Planes at other sizes, and elements picked dim by dim.

use nomina_core::DType;

use super::Constant;

/// One dim's new size.
#[derive(Clone, Copy, Debug)]
pub struct Resize {
    /// The dim.
    pub dim: usize,
    /// How many elements it then has.
    pub size: usize,
    /// The factor to go by, where it is not the quotient of the sizes.
    pub factor: Option<f64>,
}

/// A dim at another size, where elements are made from several.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Along {
    /// The dim's size.
    pub(crate) size: usize,
    /// Its size in the result.
    pub(crate) out: usize,
    /// From one element of the result to the next, among those of the dim.
    pub(crate) scale: f64,
    /// Whether the first and the last element stay where they are, instead of the edges.
    pub(crate) corners: bool,
    /// Whether four make up one, by a spline, instead of two.
    pub(crate) cubic: bool,
}

impl Along {
    /// A dim of `size` elements, resized.
    pub(crate) fn new(size: usize, resize: &Resize, align_corners: bool, cubic: bool) -> Self {
        let out = resize.size;
        // Of the same size a line is the same, whatever the factor, as PyTorch has it.
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

    /// How many make up one.
    pub(crate) fn each(&self) -> usize {
        if self.cubic { 4 } else { 2 }
    }

    /// Where element `i` of the result lies among those of the dim.
    fn place(&self, i: usize) -> f64 {
        if self.corners {
            self.scale * i as f64
        } else {
            self.scale * (i as f64 + 0.5) - 0.5
        }
    }

    /// The elements that make up element `i` of the result, and what they are multiplied with; of
    /// which the first [`Along::each`] count.
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
        // Of the same size a line does not look at neighbours, whose infinities no weight takes away.
        let next = if self.out == self.size {
            first
        } else {
            first + 1
        };
        ([first, next.min(last), 0, 0], [1.0 - part, part, 0.0, 0.0])
    }
}

/// Keys' spline with -0.75, as PyTorch has it: up to a distance of one.
fn near(x: f64) -> f64 {
    ((SLOPE + 2.0) * x - (SLOPE + 3.0)) * x * x + 1.0
}

/// The same, from there up to two.
fn far(x: f64) -> f64 {
    ((SLOPE * x - 5.0 * SLOPE) * x + 8.0 * SLOPE) * x - 4.0 * SLOPE
}

const SLOPE: f64 = -0.75;

/// Planes resampled along their dims, for a backend: row-major, one behind another.
pub(crate) struct ResampleJob<'a> {
    /// Whose name an error bears.
    pub(crate) op: &'static str,
    pub(crate) dtype: DType,
    pub(crate) planes: usize,
    /// One to three.
    pub(crate) dims: &'a [Along],
    pub(crate) x: *const u8,
    pub(crate) out: *mut u8,
}

// SAFETY: only addresses and numbers; whoever goes through them says why tasks do not meet.
unsafe impl Sync for ResampleJob<'_> {}

/// Elements picked dim by dim, for a backend. The result is row-major.
pub(crate) struct SpreadJob<'a> {
    /// Whose name an error bears.
    pub(crate) op: &'static str,
    /// Bytes of an element.
    pub(crate) element: usize,
    pub(crate) shape: &'a [usize],
    /// For each dim, the index to read at each index; -1 for the number. None for the same index.
    pub(crate) maps: &'a [Option<Vec<isize>>],
    pub(crate) x: *const u8,
    /// In elements.
    pub(crate) x_strides: &'a [isize],
    pub(crate) value: Constant,
    pub(crate) out: *mut u8,
}

// SAFETY: only addresses and numbers; whoever goes through them says why tasks do not meet.
unsafe impl Sync for SpreadJob<'_> {}
