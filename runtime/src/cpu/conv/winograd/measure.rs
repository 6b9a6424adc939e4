//! Measures that tell where transformed numbers would lose digits.

use super::transform::LANES;
use crate::cpu::reduce::simd::Kernel;

/// The magnitudes of some elements.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Magnitudes {
    /// The bits of the largest absolute value; those of NaN are larger than any number's.
    pub largest: u32,
    /// The sum of absolute values.
    pub sum: f32,
}

/// A kernel that measures elements.
pub(super) struct Measure<'a>(pub &'a [f32]);

impl Kernel for Measure<'_> {
    type Out = Magnitudes;

    #[inline(always)]
    fn run(self) -> Magnitudes {
        // Several sums, which do not wait for each other.
        const SUMS: usize = 4 * LANES;
        let (mut largest, mut sums) = ([0; SUMS], [0.0; SUMS]);
        let (whole, rest) = self.0.as_chunks::<SUMS>();
        let mut last = [0.0; SUMS];
        last[..rest.len()].copy_from_slice(rest);
        for elements in whole.iter().chain([&last]) {
            for i in 0..SUMS {
                let magnitude = elements[i].abs();
                largest[i] = magnitude.to_bits().max(largest[i]);
                sums[i] += magnitude;
            }
        }
        Magnitudes {
            largest: largest.into_iter().fold(0, u32::max),
            sum: sums.iter().sum(),
        }
    }
}

/// A kernel that returns whether each 3 × 3 kernel is all zero, or nowhere.
pub(super) struct AreWhole<'a>(pub &'a [[f32; 9]]);

impl Kernel for AreWhole<'_> {
    type Out = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let mut partly = false;
        for kernel in self.0 {
            let mut zeros = 0;
            for &weight in kernel {
                zeros += u32::from(weight == 0.0);
            }
            partly |= !matches!(zeros, 0 | 9);
        }
        !partly
    }
}
