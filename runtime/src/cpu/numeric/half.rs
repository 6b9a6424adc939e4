//! Branchless conversions of 16-bit floats, so that loops over them vectorise.

use half::{bf16, f16};

/// 2^112 as `f32`: the difference of the exponent biases of `f16` and `f32`.
const REBIAS: f32 = f32::from_bits((127 + 112) << 23);

/// Converts exactly.
#[inline(always)]
pub(crate) fn f16_to_f32(x: f16) -> f32 {
    let bits = u32::from(x.to_bits());
    let (sign, magnitude) = ((bits & 0x8000) << 16, bits & 0x7fff);
    // Reinterpreted as an `f32` the number is too small by 2^112; the product also normalises
    // subnormal numbers.
    let value = (f32::from_bits(magnitude << 13) * REBIAS).to_bits();
    // Infinity and NaN have the greatest exponent in both formats.
    let special = if magnitude >= 0x7c00 { 0x7f80_0000 } else { 0 };
    f32::from_bits(value | special | sign)
}

/// Rounds to nearest, ties to even.
#[inline(always)]
pub(crate) fn f32_to_f16(x: f32) -> f16 {
    let bits = x.to_bits();
    let (sign, magnitude) = (bits >> 16 & 0x8000, bits & 0x7fff_ffff);
    // Subnormal results: the last bit of 0.5 is worth 2^-24, so the addition rounds.
    let subnormal = (f32::from_bits(magnitude) + 0.5)
        .to_bits()
        .wrapping_sub(0x3f00_0000);
    // Normal results: rounding the lower bits up may carry into the exponent.
    let odd = magnitude >> 13 & 1;
    let normal = magnitude.wrapping_add(0xfff + odd).wrapping_sub(112 << 23) >> 13;
    let value = if magnitude < 0x3880_0000 {
        subnormal
    } else {
        normal
    };
    // From 65520 on, everything rounds to infinity.
    let value = if magnitude >= 0x477f_f000 {
        0x7c00
    } else {
        value
    };
    let value = if magnitude > 0x7f80_0000 {
        0x7e00
    } else {
        value
    };
    f16::from_bits((value | sign) as u16)
}

/// Converts exactly.
#[inline(always)]
pub(crate) fn bf16_to_f32(x: bf16) -> f32 {
    f32::from_bits(u32::from(x.to_bits()) << 16)
}

/// Rounds to nearest, ties to even.
#[inline(always)]
pub(crate) fn f32_to_bf16(x: f32) -> bf16 {
    let bits = x.to_bits();
    let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16;
    // Rounding could carry a NaN into infinity.
    let quiet = bits >> 16 | 0x40;
    bf16::from_bits((if x.is_nan() { quiet } else { rounded }) as u16)
}
