//! Options of elementwise operators: their numbers, and choices of the kernel.

use nomina_core::op::Op;
use nomina_core::{DType, Error, ErrorKind, Result, Scalar};
use smallvec::SmallVec;

/// Defines structs of numbers with defaults, in the order of the row.
macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident = $default:expr,)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct $name {
            $($(#[$field_doc])* pub $field: f64,)*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }

        impl $name {
            /// Returns the numbers in the order of the operator's expression.
            #[doc(hidden)]
            #[must_use]
            pub fn numbers(self) -> [f64; [$($default),*].len()] {
                [$(self.$field),*]
            }
        }
    )*};
}

numbers! {
    /// Options of `elu_with`.
    EluOptions {
        /// The factor of negative results.
        alpha = 1.0,
    }
    /// Options of `celu_with`.
    CeluOptions {
        /// The factor of negative results, and the divisor before the exponential.
        alpha = 1.0,
    }
    /// Options of `leaky_relu_with`.
    LeakyReluOptions {
        /// The factor of negative elements.
        negative_slope = 0.01,
    }
    /// Options of `softplus_with`.
    SoftplusOptions {
        /// The factor before the exponential.
        beta = 1.0,
        /// The threshold of an element times `beta`, beyond which the element is returned.
        threshold = 20.0,
    }
    /// Options of `hardtanh_with`.
    HardtanhOptions {
        /// The least result.
        min_val = -1.0,
        /// The greatest result.
        max_val = 1.0,
    }
    /// Options of `softshrink_with`.
    SoftshrinkOptions {
        /// The distance by which elements move towards zero.
        lambd = 0.5,
    }
    /// Options of `hardshrink_with`.
    HardshrinkOptions {
        /// The greatest magnitude that becomes zero.
        lambd = 0.5,
    }
}

/// Options of `nan_to_num_with`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NanToNumOptions {
    /// The replacement of NaN.
    pub nan: f64,
    /// The replacement of infinity; by default the greatest number of the dtype.
    pub posinf: Option<f64>,
    /// The replacement of minus infinity; by default the least number of the dtype.
    pub neginf: Option<f64>,
}

impl NanToNumOptions {
    /// Returns the numbers for a dtype.
    #[doc(hidden)]
    #[must_use]
    pub fn numbers(self, dtype: DType) -> [f64; 3] {
        let greatest = match dtype {
            DType::F16 => 65504.0,
            DType::BF16 => f64::from(half::bf16::MAX),
            DType::F32 | DType::C64 => f64::from(f32::MAX),
            _ => f64::MAX,
        };
        [
            self.nan,
            self.posinf.unwrap_or(greatest),
            self.neginf.unwrap_or(-greatest),
        ]
    }
}

/// Options of `logit_with`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LogitOptions {
    /// Elements are first clamped to between this and 1 minus this.
    pub eps: Option<f64>,
}

/// Options of `round_with`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RoundOptions {
    /// The number of digits after the decimal point; negative numbers are digits before it.
    pub decimals: i64,
}

/// The method of computing `gelu`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Approximate {
    /// By the normal distribution function.
    #[default]
    None,
    /// By an approximation with tanh.
    Tanh,
}

/// Options of `gelu_with`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GeluOptions {
    /// The method.
    pub approximate: Approximate,
}

/// The rounding of a quotient.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RoundingMode {
    /// Towards zero, as Rust divides integers.
    #[default]
    Trunc,
    /// Down.
    Floor,
}

/// Options of `div_with`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DivOptions {
    /// The rounding of the quotient; integers then stay integers.
    pub rounding_mode: RoundingMode,
}

/// Options of `addcmul_with`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AddcmulOptions {
    /// The factor of the product.
    pub value: Scalar,
}

/// Options of `addcdiv_with`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AddcdivOptions {
    /// The factor of the quotient.
    pub value: Scalar,
}

impl Default for AddcmulOptions {
    fn default() -> Self {
        Self {
            value: Scalar::Int(1),
        }
    }
}

impl Default for AddcdivOptions {
    fn default() -> Self {
        Self {
            value: Scalar::Int(1),
        }
    }
}

/// Options of `isclose_with` and `allclose_with`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CloseOptions {
    /// The tolerance relative to the other's magnitude.
    pub rtol: f64,
    /// The absolute tolerance.
    pub atol: f64,
    /// Whether NaN is close to NaN.
    pub equal_nan: bool,
}

impl Default for CloseOptions {
    fn default() -> Self {
        Self {
            rtol: 1e-5,
            atol: 1e-8,
            equal_nan: false,
        }
    }
}

impl CloseOptions {
    /// Returns the kernel and its numbers.
    #[doc(hidden)]
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if a tolerance is below zero.
    pub fn chosen(self, op: &'static str) -> Result<(Op, [f64; 2])> {
        for (name, tolerance) in [("rtol", self.rtol), ("atol", self.atol)] {
            if tolerance < 0.0 || tolerance.is_nan() {
                let what = format!("`{name}` is {tolerance}");
                return Err(Error::new(ErrorKind::Argument, op, what)
                    .hint("give a distance of zero or more"));
            }
        }
        let kernel = if self.equal_nan {
            Op::IscloseNan
        } else {
            Op::Isclose
        };
        Ok((kernel, [self.rtol, self.atol]))
    }
}

impl GeluOptions {
    /// Returns the kernel.
    #[doc(hidden)]
    #[must_use]
    pub fn chosen(self) -> Op {
        match self.approximate {
            Approximate::None => Op::Gelu,
            Approximate::Tanh => Op::GeluTanh,
        }
    }
}

impl DivOptions {
    /// Returns the kernel.
    #[doc(hidden)]
    #[must_use]
    pub fn chosen(self) -> Op {
        match self.rounding_mode {
            RoundingMode::Trunc => Op::DivTrunc,
            RoundingMode::Floor => Op::FloorDivide,
        }
    }
}

impl RoundOptions {
    /// Returns the kernel and its numbers.
    #[doc(hidden)]
    #[must_use]
    pub fn chosen(&self) -> (Op, SmallVec<[f64; 1]>) {
        match self.decimals {
            0 => (Op::Round, SmallVec::new()),
            // Beyond 400 digits, every float stays unchanged; below -400, it becomes zero.
            n => (
                Op::RoundDecimals,
                SmallVec::from_elem(n.clamp(-400, 400) as f64, 1),
            ),
        }
    }
}

impl LogitOptions {
    /// Returns the kernel and its numbers.
    #[doc(hidden)]
    #[must_use]
    pub fn chosen(&self) -> (Op, SmallVec<[f64; 1]>) {
        match self.eps {
            None => (Op::Logit, SmallVec::new()),
            Some(eps) => (Op::LogitEps, SmallVec::from_elem(eps, 1)),
        }
    }
}
