//! Windows in the form of kernels: the structs of `window.cuh`.

use nomina_core::DType;

use super::index::WIDE;
use crate::job;

/// The dtypes that can be added.
pub(super) const NUMBERS: [DType; 11] = [
    DType::U8,
    DType::I8,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::F16,
    DType::BF16,
    DType::F32,
    DType::F64,
    DType::C64,
    DType::C128,
];

/// The dtypes with an order.
pub(super) const ORDERED: &[DType] = NUMBERS.split_at(9).0;

/// The real float dtypes.
pub(super) const FLOATS: &[DType] = ORDERED.split_at(5).1;

/// A size by which kernels divide.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size {
    size: u64,
    magic: u64,
    shift: u64,
}

impl Size {
    /// Prepares a division. Numerators and divisors are below 2^31, or below 2^63 if `wide`. A size of 0 is not divided
    /// by.
    pub(super) fn new(size: usize, wide: bool) -> Self {
        let divisor = size.max(1) as u64;
        let shift = u64::BITS - (divisor - 1).leading_zeros();
        let digits = if wide { 64 } else { 32 };
        let (one, by) = (1_u128, u128::from(divisor));
        let magic = (((one << shift) - by) << digits) / by + 1;
        Self {
            size: size as u64,
            magic: magic as u64,
            shift: u64::from(shift),
        }
    }
}

/// One dim of a sliding window.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct SlidingDim {
    size: u64,
    stride: u64,
    before: u64,
    dilation: u64,
    kernel: Size,
    out: Size,
}

impl SlidingDim {
    pub(super) fn new(window: &job::Sliding, wide: bool) -> Self {
        Self {
            size: window.size as u64,
            stride: window.stride as u64,
            before: window.before as u64,
            dilation: window.dilation as u64,
            kernel: Size::new(window.kernel, wide),
            out: Size::new(window.out, wide),
        }
    }

    pub(super) fn all(windows: &job::WindowDims, wide: bool) -> [Self; 3] {
        [0, 1, 2].map(|dim| Self::new(&windows[dim], wide))
    }
}

/// One dim of a sliding window for the reverse direction: the positions of windows that contain an element.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct CoveringWindows {
    before: u64,
    dilation: u64,
    inverse: u64,
    back: u64,
    stride: Size,
    common: Size,
    step: Size,
    size: Size,
    out: Size,
    kernel: Size,
    run: Size,
    phases: Size,
}

impl CoveringWindows {
    pub(super) fn new(window: &job::Sliding, wide: bool) -> Self {
        let common = gcd(window.stride, window.dilation);
        let (step, back) = (window.stride / common, window.dilation / common);
        let size = |size| Size::new(size, wide);
        Self {
            before: window.before as u64,
            dilation: window.dilation as u64,
            inverse: inverse(back, step) as u64,
            back: back as u64,
            stride: size(window.stride),
            common: size(common),
            step: size(step),
            size: size(window.size),
            out: size(window.out),
            kernel: size(window.kernel),
            run: size(window.size.div_ceil(window.stride)),
            phases: size(window.stride.min(window.size)),
        }
    }

    pub(super) fn all(windows: &job::WindowDims, wide: bool) -> [Self; 3] {
        [0, 1, 2].map(|dim| Self::new(&windows[dim], wide))
    }
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Returns the inverse of `a` modulo `of`, by the extended Euclidean algorithm. They have no common divisor.
fn inverse(a: usize, of: usize) -> usize {
    let wide = of as i128;
    let (mut rest, mut next) = (wide, a as i128 % wide);
    let (mut factor, mut after) = (0_i128, 1_i128);
    while next != 0 {
        let times = rest / next;
        (rest, next) = (next, rest - times * next);
        (factor, after) = (after, factor - times * after);
    }
    factor.rem_euclid(wide) as usize
}

/// Returns whether some number is too large for 32-bit positions.
pub(super) fn any_wide(numbers: impl IntoIterator<Item = u128>) -> bool {
    numbers.into_iter().any(|number| number >= WIDE as u128)
}

/// Returns bounds of the numbers that kernels compute for each dim of a window.
pub(super) fn reaches(windows: &job::WindowDims) -> impl Iterator<Item = u128> + '_ {
    windows.iter().flat_map(|window| {
        let [size, kernel, stride, before, dilation, out] = [
            window.size,
            window.kernel,
            window.stride,
            window.before,
            window.dilation,
            window.out,
        ]
        .map(|number| number as u128);
        let step = stride / gcd(window.stride, window.dilation) as u128;
        [
            out * stride + kernel * dilation + before,
            size + before + stride + dilation,
            // A product in the reverse direction, before it is reduced modulo `step`.
            step * step,
        ]
    })
}

/// Returns the distance of the first element to the last, plus one.
pub(super) fn extent<const N: usize>(sizes: [usize; N], strides: [isize; N]) -> u128 {
    let each = sizes.into_iter().zip(strides);
    let far =
        each.map(|(size, stride)| size.saturating_sub(1) as u128 * stride.unsigned_abs() as u128);
    far.sum::<u128>() + 1
}

/// Returns the numbers of positions, of taps of a window, and of elements.
pub(super) fn counts(windows: &job::WindowDims) -> (usize, usize, usize) {
    (
        windows.iter().map(|window| window.out).product(),
        windows.iter().map(|window| window.kernel).product(),
        windows.iter().map(|window| window.size).product(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn divide(n: u64, by: Size, wide: bool) -> u64 {
        let digits = if wide { 64 } else { 32 };
        let high = ((u128::from(n) * u128::from(by.magic)) >> digits) as u64;
        (high + n) >> by.shift
    }

    #[test]
    fn sizes_divide() {
        for wide in [false, true] {
            let most = if wide { u64::MAX >> 1 } else { (1 << 31) - 1 };
            let sizes = (1..200).chain([4_096, 65_535, 1 << 30, most as usize]);
            for size in sizes {
                let by = Size::new(size, wide);
                assert!(wide || by.magic >> 32 == 0);
                let size = size as u64;
                let last = most / size * size;
                for n in (0..300).chain([last - 1, last, most - 1, most]) {
                    assert_eq!(divide(n, by, wide), n / size, "{n} / {size}");
                }
            }
        }
    }

    /// Computes `Backward::seen` of `window.cuh` in plain arithmetic.
    #[test]
    fn taps_that_see_an_element() {
        for (stride, dilation) in [(1, 1), (2, 1), (3, 2), (4, 6), (6, 4), (5, 1), (1, 7)] {
            let g = gcd(stride, dilation);
            let (step, back) = (stride / g, dilation / g);
            for from in 0..40_usize {
                let all: Vec<(usize, isize)> = (0..9)
                    .filter(|tap| {
                        (from as isize - (tap * dilation) as isize) % stride as isize == 0
                    })
                    .map(|tap| {
                        (
                            tap,
                            (from as isize - (tap * dilation) as isize) / stride as isize,
                        )
                    })
                    .collect();
                let rest = from % stride;
                let mut found = Vec::new();
                if rest % g == 0 {
                    let first = rest / g * inverse(back, step) % step;
                    let at = (from / stride) as isize
                        - ((first * dilation).wrapping_sub(rest) / stride) as isize;
                    found.extend(
                        (first..9)
                            .step_by(step)
                            .enumerate()
                            .map(|(j, tap)| (tap, at - (j * back) as isize)),
                    );
                }
                assert_eq!(found, all, "{stride} {dilation} {from}");
            }
        }
    }
}
