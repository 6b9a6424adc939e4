//! How numbers are written so that columns align.

use nomina_core::{DType, Scalar};

/// One way to write all shown numbers of a tensor.
pub(super) struct Style {
    form: Form,
    /// The width of the widest.
    pub(super) width: usize,
}

#[derive(Clone, Copy)]
enum Form {
    /// As it is: integers and bool.
    Plain,
    /// Whole numbers with a point: `3.`
    Whole,
    /// Digits after the point.
    Fixed(usize),
    /// `1.2346e-05`
    Scientific(usize),
}

impl Style {
    /// The style that fits all of `shown`, of so many digits if they are asked for; scientific if that is.
    pub(super) fn of(
        shown: &[Scalar],
        dtype: DType,
        digits: Option<usize>,
        scientific: bool,
    ) -> Self {
        let form = match super::pointed(dtype) {
            true if scientific => Form::Scientific(digits.unwrap_or(DIGITS)),
            true => float_form(shown, digits),
            false => Form::Plain,
        };
        let style = Self { form, width: 0 };
        let width = shown
            .iter()
            .map(|&value| style.show(value).chars().count())
            .max();
        Self {
            form,
            width: width.unwrap_or(0),
        }
    }

    /// A number, not padded.
    pub(super) fn show(&self, value: Scalar) -> String {
        match value {
            Scalar::Float(v) => self.real(v),
            Scalar::Complex(v) => {
                let sign = if v.im.is_sign_negative() { '-' } else { '+' };
                format!("{}{sign}{}i", self.real(v.re), self.real(v.im.abs()))
            }
            other => other.to_string(),
        }
    }

    fn real(&self, v: f64) -> String {
        if !v.is_finite() {
            return if v.is_nan() {
                "nan".into()
            } else {
                format!("{v}")
            };
        }
        match self.form {
            Form::Plain => format!("{v}"),
            Form::Whole => format!("{v:.0}."),
            Form::Fixed(digits) => format!("{v:.digits$}"),
            Form::Scientific(digits) => {
                let text = format!("{v:.digits$e}");
                // As C writes exponents: a sign, and two digits at least.
                match text.split_once('e') {
                    Some((mantissa, exponent)) => {
                        let (sign, size) = match exponent.strip_prefix('-') {
                            Some(size) => ('-', size),
                            None => ('+', exponent),
                        };
                        format!("{mantissa}e{sign}{size:0>2}")
                    }
                    None => text,
                }
            }
        }
    }
}

/// Digits after the point where none are asked for.
const DIGITS: usize = 4;

/// PyTorch's choice: whole numbers bare, unless digits are asked for; a wide range of magnitudes in scientific
/// notation.
fn float_form(shown: &[Scalar], asked: Option<usize>) -> Form {
    let digits = asked.unwrap_or(DIGITS);
    let parts = shown.iter().flat_map(|value| match value {
        Scalar::Complex(v) => [v.re, v.im],
        other => [other.to_f64(); 2],
    });
    let sizes: Vec<f64> = parts
        .map(f64::abs)
        .filter(|v| v.is_finite() && *v != 0.0)
        .collect();
    let high = sizes.iter().copied().fold(0.0, f64::max);
    let low = sizes.iter().copied().fold(f64::INFINITY, f64::min);
    if sizes.iter().all(|v| v.fract() == 0.0) {
        return if high >= 1e8 {
            Form::Scientific(digits)
        } else {
            asked.map_or(Form::Whole, Form::Fixed)
        };
    }
    if high / low > 1000.0 || high > 1e8 || low < 1e-4 {
        Form::Scientific(digits)
    } else {
        Form::Fixed(digits)
    }
}

/// A number on its own: `1.0`, `3`, `true`.
pub(super) fn plain(value: Scalar, dtype: DType) -> String {
    let real = |v: f64| match dtype {
        // The shortest digits that read back as the same number of that dtype.
        DType::F64 | DType::C128 => format!("{v:?}"),
        _ => format!("{:?}", v as f32),
    };
    match value {
        Scalar::Float(v) => real(v),
        Scalar::Complex(v) => {
            let sign = if v.im.is_sign_negative() { '-' } else { '+' };
            format!("{}{sign}{}i", real(v.re), real(v.im.abs()))
        }
        other => other.to_string(),
    }
}
