//! Exponents and powers of two.

/// Returns the exponent of the greatest power of two that is at most `x`, a positive finite number.
pub(super) fn exponent(x: f64) -> i32 {
    let (x, shift) = if x < f64::MIN_POSITIVE {
        (x * power(100), 100)
    } else {
        (x, 0)
    };
    (x.to_bits() >> 52 & 0x7ff) as i32 - 1023 - shift
}

/// Returns `2^exponent` for exponents of normal numbers.
fn power(exponent: i64) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// Returns `x * 2^by`, rounded once.
pub(super) fn ldexp(mut x: f64, mut by: i64) -> f64 {
    const STEP: i64 = 900;
    // Beyond this, every number becomes infinite or zero.
    by = by.clamp(-4 * STEP, 4 * STEP);
    while by.abs() > STEP {
        let step = by.signum() * STEP;
        x *= power(step);
        by -= step;
    }
    x * power(by)
}
