//! Sums of `f64` in twice its precision.

/// A compensated sum: the rounded sum, the rounding errors, and the part that exceeds the range of `f64`.
#[derive(Clone, Copy)]
pub(crate) struct Compensated {
    sum: f64,
    lost: f64,
    /// The overflowed part of the sum, times 2⁻⁶⁴.
    high: f64,
}

/// 2⁻⁶⁴.
const LOW: f64 = f64::from_bits((1023 - 64) << 52);

impl Compensated {
    pub(super) const ZERO: Self = Self {
        sum: 0.0,
        lost: 0.0,
        high: 0.0,
    };

    #[inline]
    pub(super) fn add(&mut self, x: f64) {
        let sum = self.sum + x;
        if !sum.is_finite() {
            return self.overflow(x);
        }
        self.lost += if self.sum.abs() >= x.abs() {
            (self.sum - sum) + x
        } else {
            (x - sum) + self.sum
        };
        self.sum = sum;
    }

    #[cold]
    #[inline(never)]
    fn overflow(&mut self, x: f64) {
        self.high += (self.sum * LOW + x * LOW) + self.lost * LOW;
        (self.sum, self.lost) = (0.0, 0.0);
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.add(other.sum);
        self.lost += other.lost;
        self.high += other.high;
    }

    /// Returns the sum divided by a number.
    #[inline]
    pub(super) fn quotient(&self, divisor: f64) -> f64 {
        if self.high == 0.0 {
            return (self.sum + self.lost) / divisor;
        }
        (self.high + (self.sum + self.lost) * LOW) / divisor / LOW
    }
}
