//! Quantiles of lines.

mod select;

use crate::job::Interpolation;
use crate::memory::NoMemory;
use crate::memory::scratch::room;
use nomina_core::Result;
pub(crate) use select::execute;

/// The elements of a sorted line between which a quantile is.
#[derive(Clone, Copy)]
pub(crate) struct QuantilePlace<T> {
    pub low: usize,
    pub high: usize,
    /// The weight of the higher element.
    pub weight: T,
}

/// Quantiles computed in a dtype's own precision.
pub(crate) trait Quantile: nomina_core::Element + PartialOrd {
    const NAN: Self;

    /// Returns the place of a quantile of `numbers` sorted elements, at least one.
    fn place(numbers: usize, q: Self, by: Interpolation) -> QuantilePlace<Self>;

    /// Returns the number between two.
    fn between(a: Self, b: Self, weight: Self) -> Self;

    /// Returns a quantile of a sorted line, in which NaNs are last.
    fn select(line: &[Self], q: Self, ignore: bool, by: Interpolation) -> Self {
        #[allow(clippy::eq_op, reason = "only NaN differs from itself")]
        let numbers = line.partition_point(|x| x == x);
        if numbers == 0 || (numbers < line.len() && !ignore) {
            return Self::NAN;
        }
        let place = Self::place(numbers, q, by);
        Self::between(line[place.low], line[place.high], place.weight)
    }
}

macro_rules! quantiles {
    ($($t:ty)*) => {$(
        impl Quantile for $t {
            const NAN: Self = <$t>::NAN;

            fn place(numbers: usize, q: Self, by: Interpolation) -> QuantilePlace<Self> {
                let last = numbers - 1;
                // In the dtype's own precision if it can represent every position, like PyTorch, so that
                // 0.7 of eleven numbers is the eighth.
                let place = if last <= 1 << <$t>::MANTISSA_DIGITS {
                    f64::from(q * last as $t)
                } else {
                    f64::from(q) * last as f64
                };
                let place = match by {
                    Interpolation::Lower => place.floor(),
                    Interpolation::Higher => place.ceil(),
                    Interpolation::Nearest => place.round_ties_even(),
                    _ => place,
                };
                let weight = match by {
                    Interpolation::Midpoint => 0.5,
                    _ => (place - place.floor()) as $t,
                };
                QuantilePlace {
                    low: (place.floor() as usize).min(last),
                    high: (place.ceil() as usize).min(last),
                    weight,
                }
            }

            fn between(a: Self, b: Self, weight: Self) -> Self {
                // The difference of equal infinities would be NaN.
                if a == b {
                    a
                } else if b - a == <$t>::INFINITY {
                    // An end is infinite, or the difference overflows. An end of weight zero is left out.
                    let low = if weight == 1.0 { 0.0 } else { a * (1.0 - weight) };
                    let high = if weight == 0.0 { 0.0 } else { b * weight };
                    low + high
                } else if weight < 0.5 {
                    a + weight * (b - a)
                } else {
                    b - (b - a) * (1.0 - weight)
                }
            }
        }
    )*};
}

quantiles!(f32 f64);

pub(crate) fn of_lines<T: Quantile>(
    sorted: &[T],
    q: &[T],
    n: usize,
    lines: usize,
    ignore: bool,
    by: Interpolation,
) -> Result<Vec<T>, NoMemory> {
    let mut all = room([q.len(), lines])?;
    for &q in q {
        all.extend(
            sorted
                .chunks_exact(n)
                .map(|line| T::select(line, q, ignore, by)),
        );
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests positions that `f32` cannot tell apart.
    #[test]
    fn quantiles_of_many() {
        if cfg!(miri) {
            return;
        }
        for extra in [0, 1, 2, 3, 4, 5] {
            let n = (1 << 24) + extra;
            let mut line = vec![0.0_f32; n];
            for (i, x) in line[n - 4..].iter_mut().enumerate() {
                *x = i as f32 + 1.0;
            }
            // The largest `f32` below 1: less than half a position before the last.
            let near = 1.0_f32.next_down();
            let mut with_nan = line.clone();
            with_nan.push(f32::NAN);
            for (q, by, expected) in [
                (1.0, Interpolation::Linear, 4.0),
                (1.0, Interpolation::Lower, 4.0),
                (1.0, Interpolation::Higher, 4.0),
                (1.0, Interpolation::Midpoint, 4.0),
                (near, Interpolation::Nearest, 3.0),
                (0.5, Interpolation::Linear, 0.0),
            ] {
                let of = |line: &[f32], ignore| f32::select(line, q, ignore, by);
                assert_eq!(of(&line, false), expected, "{q} of {n}, {by:?}");
                assert_eq!(of(&with_nan, true), expected, "{q} of {n}, {by:?}");
                assert!(of(&with_nan, false).is_nan());
            }
        }
    }

    #[test]
    fn places_are_rounded_as_the_dtype_rounds() {
        let line: Vec<f32> = (0..11).map(|i| i as f32).collect();
        for by in [Interpolation::Lower, Interpolation::Higher] {
            assert_eq!(f32::select(&line, 0.7, false, by), 7.0);
        }
    }
}
