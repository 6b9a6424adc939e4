//! Operands: values at the edges of functions, and all pairs of them.

use half::{bf16, f16};
use nomina::{DType, Element, Scalar};
use nomina_runtime::{Raw, call};
use num_complex::Complex;

/// Real numbers: signed zeros, infinities, NaN, the ends of ranges, and values in between.
const REALS: [f64; 38] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    0.25,
    2.0,
    -2.0,
    3.0,
    -3.0,
    7.0,
    -7.25,
    10.0,
    2.5,
    -2.5,
    3.5,
    1.460_632,
    0.999,
    -0.999,
    0.1,
    -0.7,
    5.9,
    -5.9,
    20.5,
    -41.0,
    88.5,
    -104.0,
    1e-5,
    -1e-5,
    1e-40,
    65504.0,
    -1e5,
    1e30,
    -1e30,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

/// Whole numbers: bounds, shift counts and divisors.
const WHOLES: [i64; 22] = [
    0,
    1,
    -1,
    2,
    -2,
    3,
    -3,
    5,
    7,
    -7,
    8,
    12,
    -16,
    31,
    33,
    100,
    -100,
    127,
    -128,
    255,
    i64::MAX,
    i64::MIN,
];

/// The restriction of second operands, for operators that refuse some values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tame {
    /// Any number.
    No,
    /// A small positive number, neither zero nor negative.
    Yes,
}

/// Returns `n` elements of a dtype for operand `place`; together, the operands cover every pair of
/// values.
pub fn operand(dtype: DType, place: usize, n: usize, tame: Tame) -> Raw {
    let tame = tame == Tame::Yes && place > 0;
    let count = if dtype.is_integral() {
        WHOLES.len()
    } else {
        REALS.len()
    };
    let which = |i: usize| match place {
        0 => i % count,
        1 => (i / count + i) % count,
        2 => (i / count + 7 * i) % count,
        _ => (3 * i + 5) % count,
    };
    let whole = |i| {
        if tame {
            1 + which(i) as i64 % 7
        } else {
            WHOLES[which(i)]
        }
    };
    let real = |i| {
        if tame {
            0.5 + which(i) as f64 / 8.0
        } else {
            REALS[which(i)]
        }
    };
    macro_rules! of {
        ($t:ty, $value:expr) => {{
            let value: fn(Scalar) -> $t = $value;
            let number = |i: usize| {
                if dtype.is_integral() {
                    Scalar::Int(whole(i))
                } else if dtype.is_complex() {
                    Scalar::Complex(Complex::new(real(i), real(i / 2 + 3 * place + 1)))
                } else {
                    Scalar::Float(real(i))
                }
            };
            Raw::from_vec::<$t>((0..n).map(|i| value(number(i))).collect(), &[n])
        }};
    }
    let made = match dtype {
        DType::Bool => of!(bool, |x| x.to_i64() & 1 == 1),
        DType::U8 => of!(u8, |x| x.to_i64() as u8),
        DType::I8 => of!(i8, |x| x.to_i64() as i8),
        DType::I16 => of!(i16, |x| x.to_i64() as i16),
        DType::I32 => of!(i32, |x| x.to_i64() as i32),
        DType::I64 => of!(i64, |x| x.to_i64()),
        DType::F16 => of!(f16, |x| f16::from_f64(x.to_f64())),
        DType::BF16 => of!(bf16, |x| bf16::from_f64(x.to_f64())),
        DType::F32 => of!(f32, |x| x.to_f64() as f32),
        DType::F64 => of!(f64, |x| x.to_f64()),
        DType::C64 => of!(Complex<f32>, Element::from_scalar),
        DType::C128 => of!(Complex<f64>, Element::from_scalar),
    };
    made.expect("as many elements as the size says")
}

/// Returns a number for operand `place` that does not affect promotion.
pub fn number(dtype: DType, place: usize) -> Scalar {
    let value = [2.5, 0.75, 1.25, 3.0][place];
    match dtype {
        DType::Bool => Scalar::Bool(place.is_multiple_of(2)),
        _ if dtype.is_integral() => Scalar::Int(2 + place as i64),
        _ if dtype.is_complex() => Scalar::Complex(Complex::new(value, 0.5)),
        _ => Scalar::Float(value),
    }
}

/// Converts to bool, for conditions.
pub fn condition(x: &Raw) -> Raw {
    let n = x.numel();
    let flat: Vec<bool> = (0..n).map(|i| i % 3 != 1).collect();
    let flat = Raw::from_vec(flat, &[n]).expect("as many elements");
    call::contiguous(&flat.reshape(x.shape()).expect("as many elements")).expect("memory")
}
