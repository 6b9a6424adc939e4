//! The transforms of weights, elements and sums, [`LANES`] at a time.

use std::ops::Range;

use crate::cpu::conv::planes::{FillPlanes, PlaneLayout};
use crate::cpu::gemm::lowered::TileShape;
use crate::cpu::reduce::simd::Kernel;

/// The numbers to which the elements under a tile are transformed: 4 along each dim.
pub(super) const NUMBERS: usize = 16;
/// Tiles, or kernels of a weight, that are transformed at a time.
pub(super) const LANES: usize = 8;
type Lanes = [f32; LANES];

/// Applies an operator to each lane.
#[inline(always)]
fn each(mut a: Lanes, b: &Lanes, apply: impl Fn(f32, f32) -> f32) -> Lanes {
    for (a, &b) in a.iter_mut().zip(b) {
        *a = apply(*a, b);
    }
    a
}

#[inline(always)]
fn add(a: Lanes, b: Lanes) -> Lanes {
    each(a, &b, |a, b| a + b)
}

#[inline(always)]
fn sub(a: Lanes, b: Lanes) -> Lanes {
    each(a, &b, |a, b| a - b)
}

#[inline(always)]
fn half(a: Lanes) -> Lanes {
    each(a, &[0.5; LANES], |a, b| a * b)
}

/// # Safety
/// The elements are readable.
#[inline(always)]
unsafe fn load(from: *const f32) -> Lanes {
    // SAFETY: guaranteed by the caller.
    unsafe { from.cast::<Lanes>().read_unaligned() }
}

/// # Safety
/// The elements are writable.
#[inline(always)]
pub(super) unsafe fn store(to: *mut f32, lanes: Lanes) {
    // SAFETY: guaranteed by the caller.
    unsafe { to.cast::<Lanes>().write_unaligned(lanes) }
}

type Four = (Lanes, Lanes, Lanes, Lanes);

/// Transforms 4 elements along a dim.
#[inline(always)]
fn elements((a, b, c, d): Four) -> Four {
    (sub(a, c), add(b, c), sub(c, b), sub(b, d))
}

/// Transforms 3 weights along a dim. The second and third number are twice those of the source, so that none is rounded
/// to a smaller exponent.
#[inline(always)]
fn weight(a: Lanes, b: Lanes, c: Lanes) -> Four {
    let ends = add(a, c);
    (a, add(ends, b), sub(ends, b), c)
}

/// Transforms 4 sums along a dim to 2 results, and halves the second and third.
#[inline(always)]
fn results((a, b, c, d): Four) -> (Lanes, Lanes) {
    (add(a, half(add(b, c))), sub(half(sub(b, c)), d))
}

/// A kernel that transforms some 3 × 3 kernels of a weight.
pub(super) struct TransformWeight {
    pub from: *const f32,
    pub kernels: Range<usize>,
    /// The first number of the first kernel.
    pub to: *mut f32,
    /// The distance of a kernel's numbers.
    pub apart: usize,
}

impl Kernel for TransformWeight {
    type Out = ();

    #[inline(always)]
    fn run(self) {
        for first in self.kernels.clone().step_by(LANES) {
            let count = LANES.min(self.kernels.end - first);
            let mut taps = [[0.0; LANES]; 9];
            for lane in 0..count {
                for (tap, lanes) in taps.iter_mut().enumerate() {
                    // SAFETY: each kernel has nine weights.
                    lanes[lane] = unsafe { self.from.add((first + lane) * 9 + tap).read() };
                }
            }
            let down = |x: usize| weight(taps[x], taps[x + 3], taps[x + 6]);
            let (a, b, c) = (down(0), down(1), down(2));
            let numbers = [
                weight(a.0, b.0, c.0),
                weight(a.1, b.1, c.1),
                weight(a.2, b.2, c.2),
                weight(a.3, b.3, c.3),
            ];
            for (y, (a, b, c, d)) in numbers.into_iter().enumerate() {
                for (x, lanes) in [a, b, c, d].into_iter().enumerate() {
                    let to = self.to.wrapping_add((4 * y + x) * self.apart + first);
                    // SAFETY: there is room for the numbers of each kernel.
                    unsafe { to.copy_from_nonoverlapping(lanes.as_ptr(), count) };
                }
            }
        }
    }
}

/// A kernel that transforms the elements under some rows of tiles and writes them to panels.
pub(super) struct TransformElements<'a> {
    pub layout: &'a PlaneLayout<'a>,
    /// The first row under the tiles of the first channel, the distance of channels, and the strides of the spatial dims.
    pub x: *const f32,
    pub channel: isize,
    pub strides: [isize; 3],
    /// Room for the plane of a channel, followed by initialised elements that vectors read.
    pub plane: *mut f32,
    pub channels: usize,
    /// Rows of tiles.
    pub rows: usize,
    /// Tiles in a row.
    pub across: usize,
    /// Room for a line of each number.
    pub lines: *mut f32,
    /// The length of a line.
    pub apart: usize,
    /// Room for `count` panels of each number.
    pub panels: *mut f32,
    pub count: usize,
    /// The shape of the tiles that read the panels.
    pub shape: TileShape,
}

impl Kernel for TransformElements<'_> {
    type Out = ();

    #[inline(always)]
    fn run(self) {
        let (layout, channels, across) = (self.layout, self.channels, self.across);
        let (width, depth) = (self.shape.width(), self.shape.depth);
        // Vectors of the last panel that no tile reads are left out.
        let columns = (self.rows * across).next_multiple_of(self.shape.lanes);
        for channel in 0..channels {
            let fill = FillPlanes::<f32, f32> {
                layout,
                x: self.x.wrapping_offset(channel as isize * self.channel),
                strides: self.strides,
                to: self.plane,
            };
            fill.run();
            let tiles = ElementTiles {
                layout,
                plane: self.plane,
                rows: 0..self.rows,
                across,
                to: self.lines,
                apart: self.apart,
            };
            // SAFETY: the lines have room for all tiles, and whole vectors.
            unsafe { tiles.transform() };
            let start = channel / depth * depth;
            let long = depth.min(channels - start);
            let first = start * self.count * width + (channel - start) * width;
            let mut to = self.panels.wrapping_add(first);
            for number in 0..NUMBERS {
                let mut from = self.lines.wrapping_add(number * self.apart).cast_const();
                let mut panel = to;
                for at in 0..self.count {
                    for lane in (0..width.min(columns - at * width)).step_by(LANES) {
                        // SAFETY: a line has the numbers of whole panels, and panels have room for each channel.
                        unsafe { store(panel.add(lane), load(from.add(lane))) };
                    }
                    from = from.wrapping_add(width);
                    panel = panel.wrapping_add(long * width);
                }
                to = to.wrapping_add(self.count * width * channels);
            }
        }
    }
}

/// The elements of a channel under some rows of tiles.
pub(super) struct ElementTiles<'a> {
    pub layout: &'a PlaneLayout<'a>,
    pub plane: *const f32,
    pub rows: Range<usize>,
    /// Tiles in a row.
    pub across: usize,
    /// Room for a line of each number, one for each tile.
    pub to: *mut f32,
    /// The distance of lines.
    pub apart: usize,
}

impl ElementTiles<'_> {
    /// Transforms the elements.
    ///
    /// # Safety
    /// The elements are readable; each line is writable up to a vector after the last tile.
    #[inline(always)]
    pub unsafe fn transform(&self) {
        let [row, phase] = [self.layout.row, self.layout.phase];
        for (at, line) in self.rows.clone().enumerate() {
            let from = self.plane.wrapping_add(self.layout.line(line));
            for tile in (0..self.across).step_by(LANES) {
                let from = from.wrapping_add(tile);
                let to = self.to.wrapping_add(at * self.across + tile);
                // SAFETY: guaranteed by the caller; numbers beyond the row of tiles are overwritten by those of the next.
                unsafe {
                    let column = |x: usize| {
                        let at = |y: usize| load(from.add(y * row + x));
                        elements((at(0), at(1), at(2), at(3)))
                    };
                    // Even columns are followed by odd ones.
                    let (a, b, c, d) = (column(0), column(phase), column(1), column(phase + 1));
                    let line = |y: usize, numbers| {
                        store_four(to.add(4 * y * self.apart), self.apart, numbers)
                    };
                    line(0, elements((a.0, b.0, c.0, d.0)));
                    line(1, elements((a.1, b.1, c.1, d.1)));
                    line(2, elements((a.2, b.2, c.2, d.2)));
                    line(3, elements((a.3, b.3, c.3, d.3)));
                }
            }
        }
    }
}

/// Writes four vectors, `apart` elements apart.
///
/// # Safety
/// They are writable.
#[inline(always)]
unsafe fn store_four(to: *mut f32, apart: usize, (a, b, c, d): Four) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        store(to, a);
        store(to.add(apart), b);
        store(to.add(2 * apart), c);
        store(to.add(3 * apart), d);
    }
}

/// A kernel that transforms sums to results, and returns whether all of them are finite.
pub(super) struct TransformSums {
    pub sums: *const f32,
    /// The distance of the sums of a tile.
    pub number: usize,
    /// The distance of outputs.
    pub apart: usize,
    pub bias: Option<*const f32>,
    pub outs: usize,
    /// Rows of tiles.
    pub rows: Range<usize>,
    /// The height and the width of the result.
    pub sizes: [usize; 2],
    pub to: *mut f32,
    /// The distance of the result's channels.
    pub plane: isize,
}

impl Kernel for TransformSums {
    type Out = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let [height, width] = self.sizes;
        let across = width.div_ceil(2);
        let mut largest = 0;
        for out in 0..self.outs {
            // SAFETY: there is a bias for each output.
            let bias = self
                .bias
                .map_or(0.0, |bias| unsafe { bias.add(out).read() });
            let plane = self.to.wrapping_offset(out as isize * self.plane);
            for (at, row) in self.rows.clone().enumerate() {
                let sums = self.sums.wrapping_add(out * self.apart + at * across);
                let to = plane.wrapping_add(2 * row * width);
                for tile in (0..across).step_by(LANES) {
                    let sums = sums.wrapping_add(tile);
                    // SAFETY: the sums of the tiles, and elements after the last.
                    let load = |at: usize| unsafe { load(sums.add(at * self.number)) };
                    let column =
                        |x: usize| results((load(x), load(x + 4), load(x + 8), load(x + 12)));
                    let (a, b, c, d) = (column(0), column(1), column(2), column(3));
                    let count = (2 * LANES).min(width - 2 * tile);
                    let to = to.wrapping_add(2 * tile);
                    // SAFETY: parts of the task's lines of results.
                    unsafe {
                        write(to, results((a.0, b.0, c.0, d.0)), bias, count);
                        if 2 * row + 1 < height {
                            let to = to.wrapping_add(width);
                            write(to, results((a.1, b.1, c.1, d.1)), bias, count);
                        }
                    }
                }
            }
            let (start, end) = (2 * self.rows.start, height.min(2 * self.rows.end));
            for at in start * width..end * width {
                // SAFETY: a result that was just written.
                let bits = unsafe { plane.add(at).read() }.to_bits();
                largest = largest.max(bits & i32::MAX as u32);
            }
        }
        largest < f32::INFINITY.to_bits()
    }
}

/// Writes `count` results, those of even and odd columns in turn.
///
/// # Safety
/// There is room for them.
#[inline(always)]
unsafe fn write(to: *mut f32, (even, odd): (Lanes, Lanes), bias: f32, count: usize) {
    let mut line = [0.0; 2 * LANES];
    for i in 0..LANES {
        line[2 * i] = even[i] + bias;
        line[2 * i + 1] = odd[i] + bias;
    }
    // SAFETY: guaranteed by the caller.
    unsafe {
        if count == 2 * LANES {
            to.cast::<[f32; 2 * LANES]>().write_unaligned(line);
        } else {
            to.copy_from_nonoverlapping(line.as_ptr(), count);
        }
    }
}

/// Transforms 2 gradients of results along a dim: the transpose of [`results`], with the second and third number doubled.
#[inline(always)]
fn gradients(a: Lanes, b: Lanes) -> Four {
    (a, add(a, b), sub(a, b), sub([0.0; LANES], b))
}

/// Transforms 4 sums along a dim to the gradients of 3 weights: the transpose of [`weight`], with the second and third sum
/// halved.
#[inline(always)]
fn weight_gradients((a, b, c, d): Four) -> (Lanes, Lanes, Lanes) {
    let (ends, middle) = (half(add(b, c)), half(sub(b, c)));
    (add(a, ends), middle, add(ends, d))
}

/// A kernel that transforms the elements of a channel to lines.
pub(super) struct TransformLines<'a>(pub ElementTiles<'a>);

impl Kernel for TransformLines<'_> {
    type Out = ();

    #[inline(always)]
    fn run(self) {
        // SAFETY: guaranteed by the code that creates it.
        unsafe { self.0.transform() };
    }
}

/// A kernel that transforms the gradients of a channel of results to lines.
pub(super) struct TransformGradients<'a>(pub ElementTiles<'a>);

impl Kernel for TransformGradients<'_> {
    type Out = ();

    #[inline(always)]
    fn run(self) {
        let ElementTiles {
            layout,
            across,
            apart,
            ..
        } = self.0;
        for (at, line) in self.0.rows.clone().enumerate() {
            let from = self.0.plane.wrapping_add(layout.line(line));
            for tile in (0..across).step_by(LANES) {
                let from = from.wrapping_add(tile);
                let to = self.0.to.wrapping_add(at * across + tile);
                // SAFETY: guaranteed by the code that creates it.
                unsafe {
                    let at = |y: usize, x: usize| load(from.add(y * layout.row + x * layout.phase));
                    let even = gradients(at(0, 0), at(1, 0));
                    let odd = gradients(at(0, 1), at(1, 1));
                    store_four(to, apart, gradients(even.0, odd.0));
                    store_four(to.add(4 * apart), apart, gradients(even.1, odd.1));
                    store_four(to.add(8 * apart), apart, gradients(even.2, odd.2));
                    store_four(to.add(12 * apart), apart, gradients(even.3, odd.3));
                }
            }
        }
    }
}

/// A kernel that transforms sums to the gradients of some 3 × 3 kernels, and returns whether all of them are finite.
pub(super) struct TransformWeightSums {
    pub sums: *const f32,
    /// The distance of a kernel's sums.
    pub apart: usize,
    pub kernels: Range<usize>,
    /// The gradient of the first kernel.
    pub to: *mut f32,
}

impl Kernel for TransformWeightSums {
    type Out = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let mut finite = true;
        for first in self.kernels.clone().step_by(LANES) {
            let count = LANES.min(self.kernels.end - first);
            let load = |number: usize| {
                let from = self.sums.wrapping_add(number * self.apart + first);
                let mut lanes = [0.0; LANES];
                // SAFETY: each kernel has its sums.
                unsafe { std::ptr::copy_nonoverlapping(from, lanes.as_mut_ptr(), count) };
                lanes
            };
            let column =
                |x: usize| weight_gradients((load(x), load(x + 4), load(x + 8), load(x + 12)));
            let (a, b, c, d) = (column(0), column(1), column(2), column(3));
            let rows = [
                weight_gradients((a.0, b.0, c.0, d.0)),
                weight_gradients((a.1, b.1, c.1, d.1)),
                weight_gradients((a.2, b.2, c.2, d.2)),
            ];
            for lane in 0..count {
                for (y, (a, b, c)) in rows.iter().enumerate() {
                    let to = self.to.wrapping_add((first + lane) * 9 + 3 * y);
                    let row = [a[lane], b[lane], c[lane]];
                    finite &= row.iter().all(|number| number.is_finite());
                    // SAFETY: there is room for nine gradients of each kernel.
                    unsafe { to.cast::<[f32; 3]>().write(row) };
                }
            }
        }
        finite
    }
}
