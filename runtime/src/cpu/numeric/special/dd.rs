//! Numbers as unevaluated sums of two `f64`, with about 105 bits, for differences of nearly equal
//! numbers.

use std::f64::consts::PI;

/// `hi + lo`, with `lo` at most half a unit in the last place of `hi`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dd {
    pub(super) hi: f64,
    pub(super) lo: f64,
}

/// π.
pub(super) const PI_DD: Dd = Dd {
    hi: PI,
    lo: 1.224_646_799_147_353_2e-16,
};

impl Dd {
    /// Converts a number exactly.
    pub(super) const fn new(x: f64) -> Self {
        Self { hi: x, lo: 0.0 }
    }

    /// Returns the exact sum of two numbers.
    #[inline]
    pub(super) fn sum(a: f64, b: f64) -> Self {
        let hi = a + b;
        let part = hi - a;
        Self {
            hi,
            lo: (a - (hi - part)) + (b - part),
        }
    }

    /// Returns the exact product of two numbers, unless it underflows.
    #[inline]
    pub(super) fn product(a: f64, b: f64) -> Self {
        let hi = a * b;
        Self {
            hi,
            lo: a.mul_add(b, -hi),
        }
    }

    /// Returns the exact sum of two numbers of which the first is greater in magnitude.
    #[inline]
    fn quick(hi: f64, lo: f64) -> Self {
        let sum = hi + lo;
        Self {
            hi: sum,
            lo: lo - (sum - hi),
        }
    }

    #[inline]
    pub(super) fn add(self, other: Self) -> Self {
        let high = Self::sum(self.hi, other.hi);
        let low = Self::sum(self.lo, other.lo);
        let first = Self::quick(high.hi, high.lo + low.hi);
        Self::quick(first.hi, first.lo + low.lo)
    }

    #[inline]
    pub(super) fn sub(self, other: Self) -> Self {
        self.add(Self {
            hi: -other.hi,
            lo: -other.lo,
        })
    }

    #[inline]
    pub(super) fn mul(self, other: Self) -> Self {
        let high = Self::product(self.hi, other.hi);
        Self::quick(high.hi, high.lo + (self.hi * other.lo + self.lo * other.hi))
    }

    /// Returns the nearest `f64`.
    #[inline]
    pub(super) fn value(self) -> f64 {
        self.hi + self.lo
    }
}

/// Computes sin πr and cos πr for |r| of at most ¼, to about 60 bits.
pub(super) fn sin_cos_pi(r: f64) -> (Dd, Dd) {
    // 1/(2k+1)! from k = 1, and 1/(2k)! likewise; terms after the third need no second part.
    const SIN: [f64; 10] = [
        -0.166_666_666_666_666_66,
        0.008_333_333_333_333_333,
        -1.984_126_984_126_984e-4,
        1.0 / 362_880.0,
        -1.0 / 39_916_800.0,
        1.0 / 6_227_020_800.0,
        -1.0 / 1_307_674_368_000.0,
        1.0 / 355_687_428_096_000.0,
        -1.0 / 121_645_100_408_832_000.0,
        1.0 / 51_090_942_171_709_440_000.0,
    ];
    const COS: [f64; 10] = [
        -0.5,
        0.041_666_666_666_666_664,
        -0.001_388_888_888_888_889,
        1.0 / 40_320.0,
        -1.0 / 3_628_800.0,
        1.0 / 479_001_600.0,
        -1.0 / 87_178_291_200.0,
        1.0 / 20_922_789_888_000.0,
        -1.0 / 6_402_373_705_728_000.0,
        1.0 / 2_432_902_008_176_640_000.0,
    ];
    const SIN_LOW: [f64; 3] = [
        -9.251_858_538_542_97e-18,
        1.156_482_317_317_871_4e-19,
        -1.720_955_829_342_070_5e-22,
    ];
    const COS_LOW: [f64; 3] = [0.0, 2.312_964_634_635_742_8e-18, 5.300_543_954_373_577e-20];
    let y = PI_DD.mul(Dd::new(r));
    let square = y.mul(y);
    let series = |high: &[f64; 10], low: &[f64; 3]| {
        let rest = high[3..]
            .iter()
            .rev()
            .fold(0.0, |sum, c| sum * square.hi + c);
        let head = high.iter().zip(low).rev();
        let sum = head.fold(Dd::new(rest), |sum, (&hi, &lo)| {
            sum.mul(square).add(Dd { hi, lo })
        });
        sum.mul(square).add(Dd::new(1.0))
    };
    (series(&SIN, &SIN_LOW).mul(y), series(&COS, &COS_LOW))
}
