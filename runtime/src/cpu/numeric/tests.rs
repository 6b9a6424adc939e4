use half::{bf16, f16};
use num_complex::Complex;

use super::half::{bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16};
use super::{Convert, Inexact, Ordered, Signed};

#[test]
fn sixteen_bits_convert_as_the_reference_does() {
    for bits in 0..=u16::MAX {
        let (half, brain) = (f16::from_bits(bits), bf16::from_bits(bits));
        let (wide, ours) = (half.to_f32(), f16_to_f32(half));
        assert!(
            wide.to_bits() == ours.to_bits() || wide.is_nan() && ours.is_nan(),
            "{bits:x}"
        );
        let (wide, ours) = (brain.to_f32(), bf16_to_f32(brain));
        assert!(
            wide.to_bits() == ours.to_bits() || wide.is_nan() && ours.is_nan(),
            "{bits:x}"
        );
    }
    let step = if cfg!(miri) { 1 << 20 } else { 1021 };
    for bits in (0..=u32::MAX).step_by(step) {
        // Ties and their neighbours.
        for bits in [
            bits,
            bits & !0xfff,
            bits & !0xfff | 1,
            bits & !0x7fff,
            bits & !0x7fff | 1,
        ] {
            let x = f32::from_bits(bits);
            let (half, brain) = (f32_to_f16(x), f32_to_bf16(x));
            assert_eq!(half.is_nan(), x.is_nan());
            assert_eq!(brain.is_nan(), x.is_nan());
            if !x.is_nan() {
                assert_eq!(half.to_bits(), f16::from_f32(x).to_bits(), "{x:e}");
                assert_eq!(brain.to_bits(), bf16::from_f32(x).to_bits(), "{x:e}");
            }
        }
    }
}

fn to<A: Convert<B>, B>(x: A) -> B {
    x.convert()
}

#[test]
fn casts_of_floats_saturate_and_others_are_pytorchs() {
    assert_eq!(to::<f32, u8>(-1.5), 0);
    assert_eq!(to::<f64, i8>(300.7), 127);
    assert_eq!(to::<i64, u8>(-1), 255);
    assert_eq!(to::<f32, i64>(-2.9), -2);
    assert!(to::<f32, bool>(f32::NAN) && to::<f16, bool>(f16::from_f32(0.5)));
    assert!(to::<Complex<f32>, bool>(Complex::new(0.0, 1.0)));
    assert_eq!(to::<Complex<f64>, i32>(Complex::new(3.7, 9.0)), 3);
    assert_eq!(to::<bool, Complex<f64>>(true), Complex::new(1.0, 0.0));
    assert_eq!(to::<f64, f16>(65504.0).to_f32(), 65504.0);
}

#[test]
fn integer_powers() {
    assert_eq!(3_i32.pow(4_i32 as u32), Signed::pow(3_i32, 4));
    assert_eq!(Signed::pow(2_u8, 8), 0);
    assert_eq!([-1_i8, 1, 2, 0].map(|x| Signed::pow(x, -3)), [-1, 1, 0, 0]);
    assert_eq!(Signed::pow(-1_i64, -2), 1);
    assert_eq!(Signed::abs(i8::MIN), i8::MIN);
}

#[test]
fn nan_wins() {
    for (x, y) in [(f32::NAN, 1.0), (1.0, f32::NAN)] {
        assert!(Ordered::maximum(x, y).is_nan() && Ordered::minimum(x, y).is_nan());
    }
    assert_eq!(
        (
            Ordered::maximum(1.0_f64, 2.0),
            Ordered::minimum(1.0_f64, 2.0)
        ),
        (2.0, 1.0)
    );
}

#[test]
fn complex_functions() {
    let (x, y) = (Complex::new(1.5_f64, -0.5), Complex::new(-0.25, 2.0));
    let close = |a: Complex<f64>, b: Complex<f64>| (a - b).norm() <= 1e-14 * b.norm().max(1.0);
    assert!(close(Inexact::div(x, y), x / y));
    assert!(close(Inexact::exp(x), x.exp()) && close(Inexact::log(x), x.ln()));
    assert!(close(Inexact::tanh(x), x.tanh()) && close(Signed::pow(x, y), x.powc(y)));
    assert_eq!(Inexact::tanh(Complex::new(1000.0_f32, 1.0)).re, 1.0);
    assert_eq!(
        Signed::pow(Complex::new(0.0_f32, 0.0), Complex::new(2.0, 0.0)),
        Complex::ZERO
    );
    // The results of C++'s `std::pow`.
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    for (x, y, expected) in [
        ((2.0, 0.0), (inf, 0.0), (inf, nan)),
        ((0.5, 0.0), (inf, 0.0), (0.0, 0.0)),
        ((inf, 0.0), (2.0, 0.0), (inf, nan)),
        ((inf, 0.0), (-2.0, 0.0), (0.0, 0.0)),
        ((-inf, 0.0), (0.5, 1.0), (inf, nan)),
        ((0.0, 0.0), (2.0, 1.0), (0.0, 0.0)),
        ((0.0, 0.0), (-2.0, 0.0), (inf, nan)),
        ((0.0, 0.0), (0.0, 1.0), (nan, nan)),
        ((nan, 0.0), (2.0, 0.0), (nan, nan)),
        ((2.0, 0.0), (nan, 0.0), (nan, nan)),
        // NaN in C++; one for a number as the exponent in PyTorch.
        ((nan, 0.0), (0.0, 0.0), (1.0, 0.0)),
        ((0.0, 0.0), (0.0, 0.0), (1.0, 0.0)),
    ] {
        let of = |z: (f64, f64)| Complex::new(z.0, z.1);
        let narrow = |z: (f64, f64)| Complex::new(z.0 as f32, z.1 as f32);
        let got = Signed::pow(of(x), of(y));
        let other = Signed::pow(narrow(x), narrow(y));
        for got in [[got.re, got.im], [other.re.into(), other.im.into()]] {
            for (got, expected) in got.into_iter().zip([expected.0, expected.1]) {
                let same = got == expected || (got.is_nan() && expected.is_nan());
                assert!(same, "{x:?} to {y:?} is {got}, not {expected}");
            }
        }
    }
    // The square of this divisor overflows.
    let big = Complex::new(1e30_f32, 1e30);
    assert_eq!(Inexact::div(big, big), Complex::new(1.0, 0.0));
}
