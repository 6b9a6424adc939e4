//! Options of elementwise operators: their numbers, and what chooses another kernel.

use nomina_core::op::Op;
use nomina_core::{DType, Error, ErrorKind, Result, Scalar};
use smallvec::SmallVec;

/// Structs of numbers with defaults, in the order in which the row takes them.
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
            /// The numbers, as the operator's expression takes them.
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
        /// What negative elements are scaled by.
        alpha = 1.0,
    }
    /// Options of `celu_with`.
    CeluOptions {
        /// What negative elements are scaled by, and divided by before the exponential.
        alpha = 1.0,
    }
    /// Options of `leaky_relu_with`.
    LeakyReluOptions {
        /// What negative elements are multiplied by.
        negative_slope = 0.01,
    }
    /// Options of `softplus_with`.
    SoftplusOptions {
        /// What elements are multiplied by before the exponential.
        beta = 1.0,
        /// Beyond this, an element times `beta` counts as its own softplus.
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
        /// How much nearer to zero elements come.
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
    /// What stands for NaN.
    pub nan: f64,
    /// What stands for infinity; the dtype's greatest number when left out.
    pub posinf: Option<f64>,
    /// What stands for minus infinity; the dtype's least number when left out.
    pub neginf: Option<f64>,
}

impl NanToNumOptions {
    /// The numbers for a dtype.
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
    /// Elements are first brought between this and one less it.
    pub eps: Option<f64>,
}

/// Options of `round_with`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RoundOptions {
    /// How many digits behind the point stay; negative ones are before it.
    pub decimals: i64,
}

/// How `gelu` is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Approximate {
    /// By the normal distribution function.
    #[default]
    None,
    /// By a formula with tanh.
    Tanh,
}

/// Options of `gelu_with`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GeluOptions {
    /// How it is computed.
    pub approximate: Approximate,
}

/// How a quotient is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoundingMode {
    /// Towards zero.
    Trunc,
    /// Down.
    Floor,
}

/// Options of `div_with`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DivOptions {
    /// How the quotient is rounded; integers then stay integers.
    pub rounding_mode: RoundingMode,
}

/// Options of `addcmul_with`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AddcmulOptions {
    /// What the product is multiplied by.
    pub value: Scalar,
}

/// Options of `addcdiv_with`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AddcdivOptions {
    /// What the quotient is multiplied by.
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
    /// The distance that is allowed for each unit of the other's magnitude.
    pub rtol: f64,
    /// The distance that is allowed in any case.
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
    /// The kernel, and its numbers.
    #[doc(hidden)]
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for a distance below zero.
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
    /// The kernel.
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
    /// The kernel.
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
    /// The kernel, and its numbers.
    #[doc(hidden)]
    #[must_use]
    pub fn chosen(&self) -> (Op, SmallVec<[f64; 1]>) {
        match self.decimals {
            0 => (Op::Round, SmallVec::new()),
            // Beyond these, every float is whole, or zero.
            n => (
                Op::RoundDecimals,
                SmallVec::from_elem(n.clamp(-400, 400) as f64, 1),
            ),
        }
    }
}

impl LogitOptions {
    /// The kernel, and its numbers.
    #[doc(hidden)]
    #[must_use]
    pub fn chosen(&self) -> (Op, SmallVec<[f64; 1]>) {
        match self.eps {
            None => (Op::Logit, SmallVec::new()),
            Some(eps) => (Op::LogitEps, SmallVec::from_elem(eps, 1)),
        }
    }
}
