//! The logistic function, and activation functions composed of it.

use super::{EXACT, EXP, LN_2, round};
use crate::cpu::numeric::polynomial::{Madd, polynomial};

/// Returns the number times its logistic function.
#[inline(always)]
pub(crate) fn silu<const FMA: bool>(x: f32) -> f32 {
    // Beyond this limit the result is zero, ...
    let top = if x < -110.0 { -110.0 } else { x };
    // ... and beyond this one it is x.
    let near = if top > 87.0 { 87.0 } else { top };
    let shifted = near.madd::<FMA>(-std::f32::consts::LOG2_E, round(EXACT));
    let whole = shifted - round(EXACT);
    let r = whole.madd::<FMA>(-LN_2[1], whole.madd::<FMA>(-LN_2[0], -near));
    // x / (1 + exp(-x)), with both parts scaled down by 2⁶⁴ where the exponential would overflow.
    let less = if x < -64.0 { 64 << 23 } else { 0 };
    let one = f32::from_bits(1.0_f32.to_bits() - less);
    let scale = f32::from_bits((shifted.to_bits() << 23).wrapping_sub(less));
    let [series @ .., _, _] = EXP;
    let less = (r * r).madd::<FMA>(polynomial::<FMA, _, 5>(r, series), r);
    let sum = one + scale;
    // The rounding error of the sum if the power is the greater term.
    let lost = one - (sum - scale);
    top * one / (sum + less.madd::<FMA>(scale, if x < -16.0 { lost } else { 0.0 }))
}
