//! Tests the functions against tables of exact results.

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use num_complex::Complex;

use super::by_name as special;
use crate::cpu::numeric::by_name as basic;

/// A float type of the tables.
trait Float: Copy + Into<f64> {
    /// The number of hexadecimal digits of its bits.
    const DIGITS: usize;
    /// The largest error allowed, in units in the last place.
    const ULPS: u64;
    /// The absolute error allowed near a zero, per max(1, |x|).
    const NEAR_ZERO: f64;
    fn parse(hex: &str) -> Self;
    /// Returns its rank in the order of floats; both zeros have rank 0.
    fn rank(self) -> i64;
}

macro_rules! float {
    ($t:ident, $bits:ident, $signed:ident, $digits:expr, $ulps:expr, $zero:expr) => {
        impl Float for $t {
            const DIGITS: usize = $digits;
            const ULPS: u64 = $ulps;
            const NEAR_ZERO: f64 = $zero;
            fn parse(hex: &str) -> Self {
                if hex == "nan" {
                    return Self::NAN;
                }
                Self::from_bits($bits::from_str_radix(hex, 16).unwrap())
            }
            fn rank(self) -> i64 {
                let bits = self.to_bits() as $signed;
                i64::from(if bits < 0 { $signed::MIN - bits } else { bits })
            }
        }
    };
}
float!(f32, u32, i32, 8, 4, 1.0 / (1 << 24) as f64);
float!(f64, u64, i64, 16, 8, f64::EPSILON);

fn table(name: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/special");
    fs::read_to_string(folder.join(name).with_extension("csv")).unwrap()
}

/// The statistics of one function in one dtype.
#[derive(Default)]
struct Seen {
    count: usize,
    worst: u64,
    at: String,
    wrong: String,
}

impl Seen {
    fn check<T: Float>(&mut self, inputs: &[T], got: T, want: T, near_zero: bool) {
        self.count += 1;
        let (a, b): (f64, f64) = (got.into(), want.into());
        let scale = inputs.iter().map(|&x| x.into().abs()).fold(1.0, f64::max);
        if near_zero && (a - b).abs() <= T::NEAR_ZERO * scale {
            return;
        }
        let ulps = match (a.is_nan(), b.is_nan()) {
            (true, true) => 0,
            (false, false) => got.rank().abs_diff(want.rank()),
            _ => u64::MAX,
        };
        let inputs: Vec<f64> = inputs.iter().map(|&x| x.into()).collect();
        if ulps > self.worst {
            self.worst = ulps;
            self.at = format!("{inputs:?}");
        }
        if ulps > T::ULPS {
            let _ = writeln!(self.wrong, "  {inputs:?}: {a:e}, not {b:e}: {ulps} ulps");
        }
    }
}

fn run<T: Float, const N: usize>(text: &str, f: &impl Fn([T; N]) -> T) -> Seen {
    let mut seen = Seen::default();
    for line in text.lines() {
        let cells: Vec<&str> = line.split(',').collect();
        if cells[0].len() == T::DIGITS {
            let inputs = std::array::from_fn(|i| T::parse(cells[i]));
            seen.check(
                &inputs,
                f(inputs),
                T::parse(cells[N]),
                cells.get(N + 1) == Some(&"z"),
            );
        }
    }
    seen
}

fn report(name: &str, bits: u32, seen: &Seen, failed: &mut String) {
    println!(
        "{name:<12} f{bits} {:>4} points, worst {:>3} at {}",
        seen.count, seen.worst, seen.at
    );
    if seen.count < 20 || !seen.wrong.is_empty() {
        let _ = writeln!(
            failed,
            "{name} f{bits}, {} points:\n{}",
            seen.count, seen.wrong
        );
    }
}

/// Compares functions of `x`, or of `x` and `y`, with the tables of their names.
macro_rules! hold {
    (x, $module:ident: $($name:ident)*) => {
        hold!(@ $(($name, |[x]| $module::$name(x)))*)
    };
    (x y, $module:ident: $($name:ident)*) => {
        hold!(@ $(($name, |[x, y]| $module::$name(x, y)))*)
    };
    (@ $(($name:ident, $f:expr))*) => {{
        let mut failed = String::new();
        $({
            let text = table(stringify!($name));
            let seen = run::<f32, _>(&text, &$f);
            report(stringify!($name), 32, &seen, &mut failed);
            let seen = run::<f64, _>(&text, &$f);
            report(stringify!($name), 64, &seen, &mut failed);
        })*
        assert!(failed.is_empty(), "{failed}");
    }};
}

#[test]
fn one_real_number() {
    hold! { x, special:
        sin cos tan asin acos atan sinh cosh asinh acosh atanh expm1 exp2 log1p log2 log10
        reciprocal rsqrt deg2rad rad2deg erf erfc erfinv lgamma digamma gelu gelu_tanh silu
        logsigmoid mish selu logit sinc erfcx ndtr ndtri log_ndtr entr i0 i0e i1 i1e tanhshrink
    }
}

#[test]
fn two_real_numbers() {
    hold! { x y, special: atan2 hypot logaddexp logaddexp2 xlogy xlog1py zeta polygamma }
}

#[test]
fn basic_functions() {
    hold! { x, basic: exp log sqrt tanh sigmoid }
    hold! { x y, basic: pow }
}

#[test]
fn softplus_has_two_parameters() {
    let text = table("softplus");
    let mut failed = String::new();
    report(
        "softplus",
        32,
        &run(&text, &|[x]| special::softplus::<f32>(x, 1.0, 20.0)),
        &mut failed,
    );
    report(
        "softplus",
        64,
        &run(&text, &|[x]| special::softplus::<f64>(x, 1.0, 20.0)),
        &mut failed,
    );
    assert!(failed.is_empty(), "{failed}");
    assert_eq!(special::softplus(3.0, 2.0, 5.0), 3.0);
    assert_eq!(
        special::softplus(1.0_f64, 2.0, 5.0),
        0.5 * 2.0_f64.exp().ln_1p()
    );
}

/// Compares complex results. Errors are relative to the magnitude, because a part may be near its
/// zero.
fn complex<T: Float + num_traits::Num>(
    name: &str,
    bits: u32,
    limit: f64,
    f: impl Fn(Complex<T>) -> Complex<T>,
    failed: &mut String,
) {
    let (mut count, mut worst, mut at) = (0, 0.0_f64, String::new());
    for line in table(&format!("complex_{name}")).lines() {
        let cells: Vec<&str> = line.split(',').collect();
        if cells[0].len() != T::DIGITS {
            continue;
        }
        count += 1;
        let part = |i: usize| T::parse(cells[i]);
        let got = f(Complex::new(part(0), part(1)));
        let wide = |z: Complex<T>| Complex::<f64>::new(z.re.into(), z.im.into());
        let (got, want) = (wide(got), wide(Complex::new(part(2), part(3))));
        let error = (got - want).norm() / want.norm() / T::NEAR_ZERO;
        if error > worst || error.is_nan() {
            (worst, at) = (
                error,
                format!("{:?} {:?}: {got}", part(0).into(), part(1).into()),
            );
        }
    }
    println!("complex {name:<12} f{bits} {count:>4} points, worst {worst:>6.2} at {at}");
    if count < 20 || worst > limit || worst.is_nan() {
        let _ = writeln!(failed, "complex {name} f{bits}: {worst} at {at}");
    }
}

#[test]
fn complex_numbers() {
    let mut failed = String::new();
    macro_rules! hold {
        ($($module:ident: $($name:ident)*;)*) => {$($(
            complex::<f32>(stringify!($name), 32, 8.0, $module::$name, &mut failed);
            complex::<f64>(stringify!($name), 64, 8.0, $module::$name, &mut failed);
        )*)*};
    }
    hold! {
        basic: exp log sqrt tanh sigmoid;
        special: sin cos tan asin acos atan sinh cosh asinh acosh atanh expm1 exp2 log1p log2 log10
            reciprocal rsqrt silu;
    }
    assert!(failed.is_empty(), "{failed}");
}

/// Tests sums whose terms are infinities of both signs: the result is NaN, and the loop ends.
#[test]
fn zeta_of_huge_orders() {
    for order in [2.0_f64.powi(31) + 1.0, 2.0_f64.powi(48) + 1.0] {
        assert!(super::gamma::zeta(order, -0.5).is_nan());
        assert!(super::gamma::polygamma(order - 1.0, -0.5).is_nan());
    }
}
