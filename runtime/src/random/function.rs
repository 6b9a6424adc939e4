//! Elementary functions that give the same bits on every device.
//!
//! They consist only of additions, multiplications and divisions, each rounded separately: no
//! library functions, whose last digits differ, and no fused operations. Kernels on other devices
//! compute the same, step by step. The functions support only the arguments that the distributions
//! pass.

/// The functions that distributions need, for `f32` and `f64`.
pub(crate) trait SampleMath: Copy {
    /// Returns the natural logarithm of a positive, normal, finite number.
    fn natural_log(self) -> Self;
    /// Returns sine and cosine of an angle from 0 to 1, in turns.
    fn sin_cos_turn(self) -> (Self, Self);
    /// Returns the exponential: infinite above the largest number, zero below the smallest.
    fn exponential(self) -> Self;
}

/// `c[0] + c[1] z + c[2] z² …`
macro_rules! polynomial {
    ($z:expr, $last:expr) => { $last };
    ($z:expr, $first:expr, $($rest:expr),+) => {
        $first + $z * polynomial!($z, $($rest),+)
    };
}

macro_rules! functions {
    (
        $t:ident, $int:ident, $uint:ident, mantissa: $mantissa:literal, bias: $bias:literal,
        root_half: $root_half:literal, round: $round:literal,
        ln2: $ln2_high:expr, $ln2_low:expr; exp: $exp_min:literal to $exp_max:literal,
        ln_terms: $($ln:expr),+;
        sin_terms: $($sin:expr),+;
        cos_terms: $($cos:expr),+;
        exp_terms: $($exp:expr),+;
    ) => {
        impl SampleMath for $t {
            #[inline(always)]
            fn natural_log(self) -> Self {
                // x = 2^e m with m within a factor of √2 of 1.
                let shifted = self.to_bits().wrapping_sub($root_half) as $int >> $mantissa;
                let m = $t::from_bits(self.to_bits().wrapping_sub((shifted as $uint) << $mantissa));
                let e = shifted as i32 as $t;
                // ln m = 2 artanh((m - 1) / (m + 1))
                let s = (m - 1.0) / (m + 1.0);
                let z = s * s;
                let tail = z * polynomial!(z, $($ln),+);
                e * $ln2_high + ((s + s) + (s * tail + e * $ln2_low))
            }

            #[inline(always)]
            fn sin_cos_turn(self) -> (Self, Self) {
                // The nearest quarter, in the low bits of a sum.
                let quarters = 4.0 * self;
                let sum = quarters + $round;
                let quarter = sum.to_bits();
                let angle = (quarters - (sum - $round)) * std::$t::consts::FRAC_PI_2;
                let z = angle * angle;
                let sin = angle * polynomial!(z, $($sin),+);
                let cos = polynomial!(z, $($cos),+);
                let odd = quarter & 1 == 1;
                let (a, b) = if odd { (cos, sin) } else { (sin, cos) };
                let sign = |bit: $uint| (bit & 2) << ($uint::BITS - 2);
                (
                    $t::from_bits(a.to_bits() ^ sign(quarter)),
                    $t::from_bits(b.to_bits() ^ sign(quarter.wrapping_add(1))),
                )
            }

            #[inline(always)]
            fn exponential(self) -> Self {
                let x = if self < $exp_min { $exp_min } else { self };
                let x = if x > $exp_max { $exp_max } else { x };
                let sum = x * std::$t::consts::LOG2_E + $round;
                let k = sum - $round;
                let r = (x - k * $ln2_high) - k * $ln2_low;
                let value = polynomial!(r, $($exp),+);
                // Multiply by two factors, because 2^k alone may be out of range.
                let k = (sum.to_bits() as $int).wrapping_sub(($round as $t).to_bits() as $int);
                let half = k >> 1;
                let power = |k: $int| $t::from_bits((k.wrapping_add($bias) as $uint) << $mantissa);
                value * power(half) * power(k.wrapping_sub(half))
            }
        }
    };
}

functions! {
    f32, i32, u32, mantissa: 23, bias: 127,
    root_half: 0x3f35_04f3, round: 12_582_912.0,
    ln2: 355.0 / 512.0, -2.121_944_4e-4; exp: -106.0 to 90.0,
    ln_terms: 2.0 / 3.0, 2.0 / 5.0, 2.0 / 7.0, 2.0 / 9.0, 2.0 / 11.0;
    sin_terms: 1.0, -1.0 / 6.0, 1.0 / 120.0, -1.0 / 5040.0, 1.0 / 362_880.0;
    cos_terms: 1.0, -1.0 / 2.0, 1.0 / 24.0, -1.0 / 720.0, 1.0 / 40_320.0, -1.0 / 3_628_800.0;
    exp_terms: 1.0, 1.0, 1.0 / 2.0, 1.0 / 6.0, 1.0 / 24.0, 1.0 / 120.0, 1.0 / 720.0, 1.0 / 5040.0;
}

functions! {
    f64, i64, u64, mantissa: 52, bias: 1023,
    root_half: 0x3fe6_a09e_667f_3bcd, round: 6_755_399_441_055_744.0,
    ln2: 0.693_147_180_369_123_8, 1.908_214_929_270_587_7e-10; exp: -750.0 to 712.0,
    ln_terms: 2.0 / 3.0, 2.0 / 5.0, 2.0 / 7.0, 2.0 / 9.0, 2.0 / 11.0, 2.0 / 13.0, 2.0 / 15.0,
        2.0 / 17.0, 2.0 / 19.0, 2.0 / 21.0;
    sin_terms: 1.0, -1.0 / 6.0, 1.0 / 120.0, -1.0 / 5040.0, 1.0 / 362_880.0, -1.0 / 39_916_800.0,
        1.0 / 6_227_020_800.0, -1.0 / 1_307_674_368_000.0, 1.0 / 355_687_428_096_000.0;
    cos_terms: 1.0, -1.0 / 2.0, 1.0 / 24.0, -1.0 / 720.0, 1.0 / 40_320.0, -1.0 / 3_628_800.0,
        1.0 / 479_001_600.0, -1.0 / 87_178_291_200.0, 1.0 / 20_922_789_888_000.0,
        -1.0 / 6_402_373_705_728_000.0;
    exp_terms: 1.0, 1.0, 1.0 / 2.0, 1.0 / 6.0, 1.0 / 24.0, 1.0 / 120.0, 1.0 / 720.0, 1.0 / 5040.0,
        1.0 / 40_320.0, 1.0 / 362_880.0, 1.0 / 3_628_800.0, 1.0 / 39_916_800.0,
        1.0 / 479_001_600.0, 1.0 / 6_227_020_800.0;
}

/// Returns the logarithm of `n!` for an integer `n` >= 0.
pub(crate) fn ln_factorial(n: f64) -> f64 {
    if n < 16.0 {
        let product: f64 = (2..=n as u32).map(f64::from).product();
        return product.natural_log();
    }
    // Stirling's series.
    let r = 1.0 / n;
    let z = r * r;
    let tail = r * (1.0 / 12.0 - z * (1.0 / 360.0 - z * (1.0 / 1260.0)));
    // Half the logarithm of 2π.
    const HALF_LN_TAU: f64 = 0.918_938_533_204_672_8;
    (n + 0.5) * n.natural_log() - n + HALF_LN_TAU + tail
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_the_library_within_a_few_ulp() {
        let mut x = 1e-9_f64;
        while x < 1e6 {
            let (a, b) = (x.natural_log(), f64::ln(x));
            assert!(
                (a - b).abs() <= 4.0 * f64::EPSILON * b.abs().max(0.1),
                "ln {x}: {a} {b}"
            );
            let f = x as f32;
            let (a, b) = (f.natural_log(), f32::ln(f));
            assert!(
                (a - b).abs() <= 4.0 * f32::EPSILON * b.abs().max(0.1),
                "ln {f}: {a} {b}"
            );
            x *= 1.0371;
        }
        for i in 0..=1000 {
            let turn = f64::from(i) / 1000.0;
            let (sin, cos) = turn.sin_cos_turn();
            let (s, c) = (std::f64::consts::TAU * turn).sin_cos();
            assert!((sin - s).abs() < 1e-15 && (cos - c).abs() < 1e-15, "{turn}");
            let (sin, cos) = (turn as f32).sin_cos_turn();
            assert!(
                (f64::from(sin) - s).abs() < 5e-7 && (f64::from(cos) - c).abs() < 5e-7,
                "{turn}"
            );
            let x = turn * 170.0 - 85.0;
            let (a, b) = (x.exponential(), f64::exp(x));
            assert!((a - b).abs() <= 1e-14 * b, "exp {x}: {a} {b}");
            let (a, b) = ((x as f32).exponential(), f32::exp(x as f32));
            assert!((a - b).abs() <= 5e-6 * b, "exp {x}: {a} {b}");
        }
        assert_eq!(0.25_f32.sin_cos_turn(), (1.0, 0.0));
        assert_eq!(1000.0_f32.exponential(), f32::INFINITY);
        assert_eq!((-1000.0_f32).exponential(), 0.0);
        assert_eq!(1000.0_f64.exponential(), f64::INFINITY);
        assert_eq!((-1000.0_f64).exponential(), 0.0);
        assert!((ln_factorial(5.0) - 120.0_f64.ln()).abs() < 1e-14);
        assert!((ln_factorial(20.0) - 2.432_902_008_176_64e18_f64.ln()).abs() < 1e-12);
    }
}
