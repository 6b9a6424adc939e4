//! Comparison of the device's results with the host's.

use nomina::{DType, Scalar};
use nomina_core::op::Op;
use nomina_runtime::Raw;
use num_complex::Complex;

/// Functions of the math library, and functions composed of a few of them. The host is within 2 units in the last place
/// of the exact result, a device within 4.
const ELEMENTARY: &str = "exp log tanh sigmoid sin cos tan asin acos atan sinh cosh asinh acosh atanh \
                          expm1 exp2 log1p log2 log10 silu gelu gelu_tanh erf erfc ndtr elu celu selu \
                          softplus logsigmoid mish pow atan2 hypot sinc angle rsqrt sqrt entr xlogy \
                          xlog1py bell asin_slope asinh_slope atan_slope atanh_slope";

/// Functions of many steps.
const SPECIAL: &str = "lgamma digamma erfinv erfcx ndtri log_ndtr logit logit_eps zeta polygamma i0 i0e \
                       i1 i1e logaddexp logaddexp2 binary_entropy logit_entropy divergence soft_margin \
                       stirling tanhshrink sinc_nth erfcx_nth i0_nth i0e_nth i1e_nth";

/// The tolerances of results.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Near {
    /// In units in the last place.
    pub ulps: f64,
    /// In units in the last place of one, times the greatest operand, for results near zero.
    pub near_zero: f64,
}

impl Near {
    /// Bit for bit, except that all NaNs are equal.
    pub const EXACT: Self = Self {
        ulps: 0.0,
        near_zero: 0.0,
    };

    /// Returns the tolerance for the functions in an operator's expression, computed in `compute`.
    pub fn of(op: Op, compute: DType) -> Self {
        let (_, text) = op.row().expression().unwrap_or_default();
        let mut words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let named = |list: &str, word: &str| list.split_whitespace().any(|one| one == word);
        let magnitude =
            compute.is_complex() && words.clone().any(|word| word == "abs" || word == "sgn");
        let integral = compute.is_integral();
        if integral {
            return Self::EXACT;
        }
        if words.clone().any(|word| named(SPECIAL, word)) {
            return Self {
                ulps: 16.0,
                near_zero: 8.0,
            };
        }
        // A power is the exponential of a product. The error of the product is multiplied by its magnitude, which is
        // 200 for these operands.
        let power = words.clone().any(|word| word == "pow");
        if magnitude || words.any(|word| named(ELEMENTARY, word)) {
            return Self {
                ulps: match compute.is_complex() {
                    true if power => 256.0,
                    true => 32.0,
                    false => 6.0,
                },
                // A difference of function values may cancel most digits.
                near_zero: if text.contains("sub(") { 8.0 } else { 0.0 },
            };
        }
        Self::EXACT
    }
}

/// Returns the distance from one to the next number, and the smallest number above zero.
fn unit(dtype: DType) -> (f64, f64) {
    match dtype {
        DType::F16 => (2.0_f64.powi(-10), 2.0_f64.powi(-24)),
        DType::BF16 => (2.0_f64.powi(-7), 2.0_f64.powi(-133)),
        DType::F32 | DType::C64 => (2.0_f64.powi(-23), 2.0_f64.powi(-149)),
        _ => (2.0_f64.powi(-52), 5e-324),
    }
}

/// Returns a unit in the last place of a number.
fn ulp(x: f64, dtype: DType) -> f64 {
    let (one, least) = unit(dtype);
    let power = if x == 0.0 {
        0.0
    } else {
        2.0_f64.powf(x.abs().log2().floor())
    };
    (one * power).max(least)
}

fn real(got: f64, want: f64, dtype: DType, near: Near, scale: f64) -> bool {
    if got.is_nan() || want.is_nan() {
        return got.is_nan() && want.is_nan();
    }
    if near == Near::EXACT {
        return got.to_bits() == want.to_bits();
    }
    if got == want {
        return true;
    }
    let (one, least) = unit(dtype);
    // 16-bit results are rounded from f32.
    let ulps = if matches!(dtype, DType::F16 | DType::BF16) {
        1.0
    } else {
        near.ulps
    };
    let apart = (got - want).abs();
    let end = if got.is_infinite() || want.is_infinite() {
        // The greatest number and infinity are neighbours.
        let most = 2.0 * ulp(f64::MAX.min(f64::from(f32::MAX)), dtype);
        return dtype != DType::F64
            && got.signum() == want.signum()
            && got.abs().min(want.abs()) > f64::from(f32::MAX) - 8.0 * most;
    } else {
        ulps * ulp(want, dtype) + 4.0 * least
    };
    apart <= end || apart <= near.near_zero * one * scale.max(1.0)
}

fn complex(got: Complex<f64>, want: Complex<f64>, dtype: DType, near: Near) -> bool {
    let part = |got, want| real(got, want, dtype, near, 1.0);
    if near == Near::EXACT {
        return part(got.re, want.re) && part(got.im, want.im);
    }
    if !want.is_finite() || !got.is_finite() {
        // Devices and hosts agree that the result is not finite, but not always on NaN or infinity.
        return !want.is_finite() && !got.is_finite();
    }
    (got - want).norm() <= near.ulps * ulp(want.norm(), dtype)
}

/// Returns the greatest magnitude of the finite parts, for tolerances near zero.
fn size(x: &Scalar) -> f64 {
    let value = x.to_complex();
    let part = |x: f64| if x.is_finite() { x.abs() } else { 0.0 };
    part(value.re).max(part(value.im))
}

/// Compares element by element; the error describes the first difference. `inputs` have the layout of the result.
pub fn same(got: &Raw, want: &Raw, inputs: &[Raw], near: Near) -> Result<(), String> {
    if (got.dtype(), got.shape(), got.strides()) != (want.dtype(), want.shape(), want.strides()) {
        let of = |x: &Raw| format!("{} {:?} {:?}", x.dtype(), x.shape(), x.strides());
        return Err(format!("{}, not {}", of(got), of(want)));
    }
    let dtype = got.dtype();
    let scales: Vec<Vec<Scalar>> = inputs.iter().map(|x| x.scalars().collect()).collect();
    for (i, (got, want)) in got.scalars().zip(want.scalars()).enumerate() {
        let scale = scales.iter().map(|x| size(&x[i])).fold(0.0, f64::max);
        let same = match (got, want) {
            (Scalar::Bool(got), Scalar::Bool(want)) => got == want,
            (Scalar::Int(got), Scalar::Int(want)) => got == want,
            (Scalar::Complex(got), Scalar::Complex(want)) => complex(got, want, dtype, near),
            (got, want) => real(got.to_f64(), want.to_f64(), dtype, near, scale),
        };
        if !same {
            let of: Vec<&Scalar> = scales.iter().map(|x| &x[i]).collect();
            return Err(format!("element {i}, of {of:?}: {got:?}, not {want:?}"));
        }
    }
    Ok(())
}
