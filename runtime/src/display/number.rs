//! Formatting of numbers in aligned columns, following NumPy (`numpy/_core/arrayprint.py`).

use half::f16;
use nomina_core::{DType, Scalar};

/// The maximal number of digits after the point, by default.
const DIGITS: usize = 8;

/// More digits than any number has.
const ALL: usize = 2000;

/// The options of a formatter.
#[derive(Clone, Copy)]
pub(super) struct Requested {
    /// The exact number of digits after the point.
    pub(super) digits: Option<usize>,
    /// Whether exponents are required.
    pub(super) scientific: bool,
}

/// The float type of a dtype's parts, for formatting.
#[derive(Clone, Copy, PartialEq)]
enum FloatKind {
    Half,
    Single,
    Double,
}

impl FloatKind {
    fn for_dtype(dtype: DType) -> Self {
        match dtype {
            DType::F16 => Self::Half,
            DType::F64 | DType::C128 => Self::Double,
            _ => Self::Single,
        }
    }

    /// Returns the number of decimal digits that always survive.
    fn precision(self) -> i32 {
        match self {
            Self::Half => 3,
            Self::Single => 6,
            Self::Double => 15,
        }
    }

    /// Returns the smallest number that has an exponent when printed on its own.
    fn large(self) -> f64 {
        match self {
            Self::Double => 1e16,
            _ => 10f64.powi(self.precision()),
        }
    }

    fn round(self, v: f64) -> f64 {
        match self {
            Self::Half => f16::from_f64(v).to_f64(),
            Self::Single => f64::from(v as f32),
            Self::Double => v,
        }
    }

    /// Returns the shortest digits that parse as the same number of this kind, with an even last digit in case of a
    /// tie: `1.5e-7`.
    fn shortest(self, v: f64) -> String {
        let same = |text: &String| text.parse().is_ok_and(|read: f64| self.round(read) == v);
        match self {
            Self::Half => {
                // Above a power of two the next number is further away than below it, and the nearest decimal may fail
                // where the next one succeeds.
                let above = v * (1.0 + f64::from(f16::EPSILON) / 4.0);
                let mut texts = (0..5).flat_map(|p| [format!("{v:.p$e}"), format!("{above:.p$e}")]);
                texts.find(same).unwrap_or_else(|| format!("{v:e}"))
            }
            Self::Single | Self::Double => {
                let text = match self {
                    Self::Single => format!("{:e}", v as f32),
                    _ => format!("{v:e}"),
                };
                let digits = fraction_of(&text).len();
                Some(format!("{v:.digits$e}")).filter(same).unwrap_or(text)
            }
        }
    }
}

/// A finite number in parts.
struct NumberText {
    /// The digits before the point, with the sign.
    whole: String,
    /// The digits after the point.
    fraction: String,
    exponent: i32,
}

impl NumberText {
    /// Formats with an exponent: the shortest unique digits, if they have from `least` to `digits` digits after the
    /// point, else `digits`.
    fn scientific(kind: FloatKind, v: f64, digits: usize, least: usize) -> Self {
        let shortest = kind.shortest(v);
        let fits = (least..=digits).contains(&fraction_of(&shortest).len());
        let text = if fits {
            shortest
        } else {
            format!("{v:.digits$e}")
        };
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        Self {
            whole: whole.into(),
            fraction: fraction.into(),
            exponent: exponent.parse().unwrap_or(0),
        }
    }

    /// Like [`scientific`](Self::scientific), but without an exponent.
    fn positional(kind: FloatKind, v: f64, digits: usize, least: usize) -> Self {
        let shortest = Self::scientific(kind, v, ALL, 0);
        let fits = digits
            .checked_add_signed(shortest.exponent as isize)
            .is_some_and(|most| least == 0 && shortest.fraction.len() <= most);
        let text = if fits {
            shortest.spread()
        } else {
            format!("{v:.digits$}")
        };
        let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
        Self {
            whole: whole.into(),
            fraction: fraction.into(),
            exponent: 0,
        }
    }

    /// Converts to a number without an exponent.
    fn spread(self) -> String {
        let (sign, first) = match self.whole.strip_prefix('-') {
            Some(first) => ("-", first),
            None => ("", self.whole.as_str()),
        };
        let digits = format!("{first}{}", self.fraction);
        match usize::try_from(self.exponent) {
            Ok(shift) if shift >= self.fraction.len() => {
                format!("{sign}{digits}{}", "0".repeat(shift - self.fraction.len()))
            }
            Ok(shift) => {
                let (whole, fraction) = digits.split_at(first.len() + shift);
                format!("{sign}{whole}.{fraction}")
            }
            Err(_) => {
                let zeros = self.exponent.unsigned_abs() as usize - 1;
                format!("{sign}0.{}{digits}", "0".repeat(zeros))
            }
        }
    }

    fn trim(mut self) -> Self {
        let kept = self.fraction.trim_end_matches('0').len();
        self.fraction.truncate(kept);
        self
    }

    /// Formats the exponent with a sign and `digits` digits: `e+05`.
    fn exponent(&self, digits: usize) -> String {
        let sign = if self.exponent < 0 { '-' } else { '+' };
        format!("e{sign}{:0>digits$}", self.exponent.unsigned_abs())
    }
}

fn fraction_of(text: &str) -> &str {
    let mantissa = text.split('e').next().unwrap_or(text);
    mantissa
        .split_once('.')
        .map_or("", |(_, fraction)| fraction)
}

/// A common format of all shown floats.
pub(super) struct Floats {
    kind: FloatKind,
    scientific: bool,
    /// The minimal number of digits of the shortest text; if it has fewer, the digits are computed.
    least: usize,
    /// Whether positive numbers have a sign.
    signed: bool,
    /// The maximal number of digits after the point.
    digits: usize,
    /// The maximal width before the point.
    left: usize,
    /// The maximal width after the point.
    right: usize,
    /// The digits of an exponent.
    exponent: usize,
}

impl Floats {
    fn new(values: &[f64], kind: FloatKind, asked: Requested, signed: bool) -> Self {
        let finite = || values.iter().copied().filter(|v| v.is_finite());
        let sizes = || finite().map(f64::abs).filter(|v| *v != 0.0);
        let high = sizes().fold(0.0, f64::max);
        let low = sizes().fold(f64::INFINITY, f64::min);
        let wide = || {
            high >= 10f64.powi(kind.precision().min(8))
                || low < kind.round(1e-4)
                || kind.round(high / low) > 1000.0
        };
        let mut floats = Self {
            kind,
            scientific: asked.scientific || (high > 0.0 && wide()),
            least: if asked.digits.is_some() { ALL + 1 } else { 0 },
            signed,
            digits: asked.digits.unwrap_or(DIGITS),
            left: 0,
            right: 0,
            exponent: 2,
        };
        let (mut left, mut fraction, mut exponent) = (0, 0, 2);
        for text in finite().map(|v| floats.text(v)) {
            left = left.max(text.whole.len());
            fraction = fraction.max(text.fraction.len());
            exponent = exponent.max(text.exponent(0).len() - 2);
        }
        let some = finite().next().is_some();
        (floats.left, floats.right, floats.exponent) = (left, fraction, exponent);
        if floats.scientific && some {
            (floats.digits, floats.least) = (fraction, floats.least.max(fraction));
            floats.right += exponent + 2;
        }
        if finite().count() < values.len() {
            let sign = signed || values.contains(&f64::NEG_INFINITY);
            let least = "inf".len() + usize::from(sign);
            floats.left = floats.left.max(least.saturating_sub(floats.right + 1));
        }
        floats
    }

    fn text(&self, v: f64) -> NumberText {
        let write = if self.scientific {
            NumberText::scientific
        } else {
            NumberText::positional
        };
        let mut text = write(self.kind, v, self.digits, self.least);
        if self.least == 0 {
            text = text.trim();
        }
        if self.signed && !v.is_sign_negative() {
            text.whole.insert(0, '+');
        }
        text
    }

    fn show(&self, v: f64) -> String {
        let Self { left, right, .. } = *self;
        if !v.is_finite() {
            let width = left + 1 + right;
            return format!("{:>width$}", not_finite(v, self.signed));
        }
        let text = self.text(v);
        let (whole, fraction) = (&text.whole, &text.fraction);
        if self.scientific {
            format!("{whole:>left$}.{fraction}{}", text.exponent(self.exponent))
        } else {
            format!("{whole:>left$}.{fraction:<right$}")
        }
    }
}

fn not_finite(v: f64, signed: bool) -> String {
    let text = if v.is_nan() { "nan" } else { "inf" };
    let sign = match v {
        f64::NEG_INFINITY => "-",
        _ if signed => "+",
        _ => "",
    };
    format!("{sign}{text}")
}

/// A common format of all shown numbers of a tensor.
pub(super) enum Style {
    /// Integers and bool, padded to a width.
    Plain(usize),
    /// Floats.
    Real(Box<Floats>),
    /// The real parts and the imaginary ones.
    Complex(Box<[Floats; 2]>),
}

impl Style {
    /// Returns the style that fits all of `shown`.
    pub(super) fn new(shown: &[Scalar], dtype: DType, asked: Requested) -> Self {
        let parts = |part: fn(&Scalar) -> f64| shown.iter().map(part).collect::<Vec<_>>();
        let kind = FloatKind::for_dtype(dtype);
        let reals = || Floats::new(&parts(|v| v.to_f64()), kind, asked, false);
        if dtype.is_complex() {
            let imaginary = Floats::new(&parts(|v| v.to_complex().im), kind, asked, true);
            return Self::Complex(Box::new([reals(), imaginary]));
        }
        if dtype.is_integral() {
            let widths = shown.iter().map(|v| plain(*v, dtype).len());
            // Bools have the same width in all tensors.
            let least = if dtype == DType::Bool { 5 } else { 0 };
            return Self::Plain(widths.fold(least, usize::max));
        }
        Self::Real(Box::new(reals()))
    }

    /// Formats a number, padded to the common width.
    pub(super) fn show(&self, value: Scalar, dtype: DType) -> String {
        match self {
            Self::Plain(width) => format!("{:>width$}", plain(value, dtype)),
            Self::Real(floats) => floats.show(value.to_f64()),
            Self::Complex(parts) => {
                let value = value.to_complex();
                let mut text = parts[1].show(value.im);
                text.insert(text.trim_end().len(), 'j');
                parts[0].show(value.re) + &text
            }
        }
    }
}

/// Formats a number on its own: `1.0`, `3`, `True`, `(1.5-2j)`.
pub(super) fn plain(value: Scalar, dtype: DType) -> String {
    let kind = FloatKind::for_dtype(dtype);
    match value {
        Scalar::Bool(true) => "True".into(),
        Scalar::Bool(false) => "False".into(),
        Scalar::Int(v) => v.to_string(),
        Scalar::Float(v) => alone(kind, v, false, ".0"),
        Scalar::Complex(v) if v.re == 0.0 && v.re.is_sign_positive() => {
            alone(kind, v.im, false, "") + "j"
        }
        Scalar::Complex(v) => {
            let (re, im) = (alone(kind, v.re, false, ""), alone(kind, v.im, true, ""));
            format!("({re}{im}j)")
        }
    }
}

/// Returns the shortest text of a float; an integer ends with `whole`.
fn alone(kind: FloatKind, v: f64, signed: bool, whole: &str) -> String {
    if !v.is_finite() {
        return not_finite(v, signed);
    }
    let size = v.abs();
    let plus = if signed && v.is_sign_positive() {
        "+"
    } else {
        ""
    };
    let point = |fraction: &str| if fraction.is_empty() { "" } else { "." };
    if size != 0.0 && (size < 1e-4 || size >= kind.large()) {
        let text = NumberText::scientific(kind, v, ALL, 0);
        let (fraction, exponent) = (&text.fraction, text.exponent(2));
        return format!(
            "{plus}{}{}{fraction}{exponent}",
            text.whole,
            point(fraction)
        );
    }
    let text = NumberText::positional(kind, v, ALL, 0);
    match text.fraction.as_str() {
        "" => format!("{plus}{}{whole}", text.whole),
        fraction => format!("{plus}{}.{fraction}", text.whole),
    }
}
