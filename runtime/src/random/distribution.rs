//! Distributions, their valid parameters, and the dtypes that can represent their numbers.

use std::ops::{Bound, RangeBounds};

use nomina_core::{DType, Error, ErrorKind, Result};

use super::Stream;

/// A distribution of numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Distribution {
    /// Uniform from `from` to below `to`, in steps of 2⁻²⁴ of their distance for `f32`, 2⁻⁵³ for
    /// `f64`, 2⁻¹¹ and 2⁻⁸ for `f16` and `bf16`.
    Uniform {
        /// The smallest number.
        from: f64,
        /// The exclusive upper bound, unless it equals `from`.
        to: f64,
    },
    /// The normal distribution. Both parts of a complex number have this mean, and a variance of
    /// half the square of `std`.
    Normal {
        /// The mean.
        mean: f64,
        /// The standard deviation.
        std: f64,
    },
    /// The exponential of a normal number.
    LogNormal {
        /// The logarithm's mean.
        mean: f64,
        /// The logarithm's standard deviation.
        std: f64,
    },
    /// Waiting times; never zero.
    Exponential {
        /// The mean rate of the events.
        lambd: f64,
    },
    /// The quotient of two normal numbers.
    Cauchy {
        /// The position of the highest density.
        median: f64,
        /// The half width at half of the highest density.
        sigma: f64,
    },
    /// The number of trials up to the first success; at least 1.
    Geometric {
        /// The probability of a success.
        p: f64,
    },
    /// One with probability `p`, else zero.
    Bernoulli {
        /// The probability.
        p: f64,
    },
    /// Integers from `low` to `high`, both included, all equally probable.
    Integers {
        /// The smallest.
        low: i64,
        /// The largest.
        high: i64,
    },
}

/// The words of a fill, and the distribution that a kernel computes from them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Draw {
    pub(crate) words: Stream,
    pub(crate) what: Distribution,
    /// The range of results: representable in the dtype and allowed by the distribution.
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// The number of bits of a uniform number that the dtype holds.
    pub(crate) bits: u32,
}

impl Distribution {
    /// Checks that the parameters are valid, and that the dtype can represent the numbers.
    ///
    /// # Errors
    /// [`ErrorKind::DType`] and [`ErrorKind::Argument`].
    pub(crate) fn check(&self, op: &'static str, dtype: DType) -> Result<()> {
        let holds = match self {
            Self::Normal { .. } => !dtype.is_integral(),
            Self::Uniform { .. }
            | Self::LogNormal { .. }
            | Self::Exponential { .. }
            | Self::Cauchy { .. } => dtype.is_float(),
            Self::Geometric { .. } => !dtype.is_complex() && dtype != DType::Bool,
            Self::Bernoulli { .. } | Self::Integers { .. } => !dtype.is_complex(),
        };
        if !holds {
            let what = format!("no random numbers of {dtype}");
            let float = matches!(
                self,
                Self::Geometric { .. } | Self::Bernoulli { .. } | Self::Integers { .. }
            );
            let instead = if float { "a real" } else { "a float" };
            return Err(Error::new(ErrorKind::DType, op, what)
                .hint(format!("draw {instead} dtype, and convert with `to`")));
        }
        let refuse = |what: String, hint: &str| {
            Err(Error::new(ErrorKind::Argument, op, what).hint(hint.to_owned()))
        };
        match *self {
            Self::Uniform { from, to } => {
                let most = largest(dtype);
                if !(from <= to && from >= -most && to <= most && to - from <= most) {
                    return refuse(
                        format!("{from} to {to} is not a range of {dtype}"),
                        "give finite bounds, the lower first",
                    );
                }
            }
            Self::Normal { mean, std } | Self::LogNormal { mean, std } => {
                let positive = matches!(self, Self::LogNormal { .. });
                if std < 0.0 || std.is_nan() || (positive && std == 0.0) || mean.is_nan() {
                    return refuse(
                        format!("mean {mean}, standard deviation {std}"),
                        "give a standard deviation greater than zero",
                    );
                }
            }
            Self::Exponential { lambd } => {
                if lambd <= 0.0 || lambd.is_nan() {
                    return refuse(format!("rate {lambd}"), "give a rate greater than zero");
                }
            }
            Self::Cauchy { sigma, .. } => {
                if sigma <= 0.0 || sigma.is_nan() {
                    return refuse(
                        format!("half width {sigma}"),
                        "give a half width greater than zero",
                    );
                }
            }
            Self::Geometric { p } => {
                if !(p > 0.0 && p < 1.0) {
                    return refuse(
                        format!("probability {p}"),
                        "give a probability between 0 and 1",
                    );
                }
            }
            Self::Bernoulli { p } => {
                if !(0.0..=1.0).contains(&p) {
                    return refuse(format!("probability {p}"), "give a probability from 0 to 1");
                }
            }
            Self::Integers { low, high } => {
                let (least, most) = whole_numbers(dtype);
                if low > high || low < least || high > most {
                    return refuse(
                        format!("{low} to {high} is not a range of {dtype}"),
                        &format!("give bounds within {least} and {most}, the lower first"),
                    );
                }
            }
        }
        Ok(())
    }

    /// Returns the kernel's description, for elements of `dtype`, after [`check`](Self::check).
    pub(crate) fn draw(self, dtype: DType, words: Stream) -> Draw {
        let real = dtype.to_real();
        let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
        let mut what = self;
        match &mut what {
            Self::Uniform { from, to } => {
                low = rounded(*from, real);
                high = if *to > *from {
                    below(*to, real).max(low)
                } else {
                    low
                };
            }
            Self::Normal { std, .. } if dtype.is_complex() => {
                *std *= std::f64::consts::FRAC_1_SQRT_2;
            }
            Self::Exponential { .. } => low = smallest(real),
            Self::Geometric { .. } => {
                low = 1.0;
                high = if real.is_float() {
                    f64::INFINITY
                } else {
                    largest(real)
                };
            }
            Self::Normal { .. }
            | Self::LogNormal { .. }
            | Self::Cauchy { .. }
            | Self::Bernoulli { .. }
            | Self::Integers { .. } => {}
        }
        Draw {
            words,
            what,
            low,
            high,
            bits: match real {
                DType::F16 => 11,
                DType::BF16 => 8,
                _ => 24,
            },
        }
    }
}

/// Returns the largest finite number.
fn largest(dtype: DType) -> f64 {
    match dtype {
        DType::Bool => 1.0,
        DType::U8 => u8::MAX.into(),
        DType::I8 => i8::MAX.into(),
        DType::I16 => i16::MAX.into(),
        DType::I32 => i32::MAX.into(),
        // The largest f64 that is an i64.
        DType::I64 => 9_223_372_036_854_774_784.0,
        DType::F16 => half::f16::MAX.to_f64(),
        DType::BF16 => half::bf16::MAX.to_f64(),
        DType::F32 | DType::C64 => f32::MAX.into(),
        DType::F64 | DType::C128 => f64::MAX,
    }
}

/// Returns the smallest number above zero that no device flushes to zero.
fn smallest(dtype: DType) -> f64 {
    match dtype {
        DType::F16 => half::f16::MIN_POSITIVE_SUBNORMAL.to_f64(),
        DType::F64 => f64::MIN_POSITIVE,
        _ => f32::MIN_POSITIVE.into(),
    }
}

/// Returns the range in which a dtype represents every integer: for floats, limited by the
/// mantissa.
pub(crate) fn whole_numbers(dtype: DType) -> (i64, i64) {
    let mantissa = |bits: u32| (-(1_i64 << bits), 1_i64 << bits);
    match dtype {
        DType::Bool => (0, 1),
        DType::U8 => (0, u8::MAX.into()),
        DType::I8 => (i8::MIN.into(), i8::MAX.into()),
        DType::I16 => (i16::MIN.into(), i16::MAX.into()),
        DType::I32 => (i32::MIN.into(), i32::MAX.into()),
        DType::I64 => (i64::MIN, i64::MAX),
        DType::F16 => mantissa(11),
        DType::BF16 => mantissa(8),
        DType::F32 | DType::C64 => mantissa(24),
        DType::F64 | DType::C128 => mantissa(53),
    }
}

/// Returns the first and the last number of a range. Without a start it begins at zero; without an
/// end it reaches up to the largest integer of the dtype, for floats the largest exact one.
///
/// # Errors
/// [`ErrorKind::Argument`] if the range is empty.
pub fn range_of(
    op: &'static str,
    range: &impl RangeBounds<i64>,
    dtype: DType,
) -> Result<(i64, i64)> {
    let low = match range.start_bound() {
        Bound::Included(&low) => Some(low),
        Bound::Excluded(&low) => low.checked_add(1),
        Bound::Unbounded => Some(0),
    };
    let high = match range.end_bound() {
        Bound::Included(&high) => Some(high),
        Bound::Excluded(&high) => high.checked_sub(1),
        Bound::Unbounded => Some(whole_numbers(dtype).1),
    };
    match (low, high) {
        (Some(low), Some(high)) if low <= high => Ok((low, high)),
        _ => {
            let shown = |bound: Bound<&i64>| match bound {
                Bound::Included(at) | Bound::Excluded(at) => at.to_string(),
                Bound::Unbounded => String::new(),
            };
            let (from, to) = (shown(range.start_bound()), shown(range.end_bound()));
            let what = format!("the range {from}..{to} is empty");
            Err(Error::new(ErrorKind::Argument, op, what).hint("give the lower bound first"))
        }
    }
}

pub(super) fn rounded(x: f64, dtype: DType) -> f64 {
    match dtype {
        DType::F16 => half::f16::from_f64(x).to_f64(),
        DType::BF16 => half::bf16::from_f64(x).to_f64(),
        DType::F32 => (x as f32).into(),
        _ => x,
    }
}

/// Returns the largest number of a dtype below `x`.
fn below(x: f64, dtype: DType) -> f64 {
    let nearest = rounded(x, dtype);
    if nearest < x {
        return nearest;
    }
    // One step towards minus infinity, in the bits of the dtype.
    fn down(bits: u64, sign: u64) -> u64 {
        match bits {
            0 => sign | 1,
            bits if bits == sign => sign | 1,
            bits if bits & sign != 0 => bits + 1,
            bits => bits - 1,
        }
    }
    match dtype {
        DType::F16 => {
            let bits = half::f16::from_f64(nearest).to_bits();
            half::f16::from_bits(down(bits.into(), 1 << 15) as u16).to_f64()
        }
        DType::BF16 => {
            let bits = half::bf16::from_f64(nearest).to_bits();
            half::bf16::from_bits(down(bits.into(), 1 << 15) as u16).to_f64()
        }
        DType::F32 => (nearest as f32).next_down().into(),
        _ => nearest.next_down(),
    }
}
