//! The scalar functions in the expressions of elementwise rows, and how loops compute each.

use Vector::{All, Bounded, Common, Near, Scalar};

use crate::DType;

/// A scalar function of expressions: `exp` in `exp(x)`.
#[derive(Clone, Copy, Debug)]
pub struct Function {
    /// The name in expressions.
    pub name: &'static str,
    /// Whether a call takes much longer than reading its operands from a GPU's memory.
    pub is_heavy: bool,
    /// Whether a call is faster than copying its result, so that loops in place in `f32` and `f64` pay.
    pub is_in_place: bool,
    cheap: Cheap,
    vectors: [Vector; 2],
}

/// The dtypes in which a function takes a few instructions, so that its loop is faster in a wider instruction set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cheap {
    All,
    F32,
    None,
}

/// The arguments for which a function of floats has code without branches and calls, which vectorises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Vector {
    /// None.
    Scalar,
    /// All.
    All,
    /// Angles up to a bound, `reaches`.
    Bounded,
    /// All, and most of them by a shorter variant: `name_near` where `name_reaches` returns true.
    Near,
    /// Most; the others are calls.
    Common,
}

impl Function {
    const fn new(name: &'static str, cheap: Cheap) -> Self {
        let vectors = [Scalar, Scalar];
        let (is_heavy, is_in_place) = (false, false);
        Self {
            name,
            is_heavy,
            is_in_place,
            cheap,
            vectors,
        }
    }

    const fn vectors(mut self, single: Vector, double: Vector) -> Self {
        self.vectors = [single, double];
        self
    }

    const fn vector(self, both: Vector) -> Self {
        self.vectors(both, both)
    }

    const fn heavy(mut self) -> Self {
        self.is_heavy = true;
        self
    }

    const fn in_place(mut self) -> Self {
        self.is_in_place = true;
        self
    }

    /// Returns whether a call takes a few instructions in this dtype.
    #[must_use]
    pub fn is_cheap(&self, dtype: DType) -> bool {
        self.cheap == Cheap::All || self.cheap == Cheap::F32 && dtype == DType::F32
    }

    /// Returns the arguments for which the function vectorises in this dtype.
    #[must_use]
    pub fn vector_of(&self, dtype: DType) -> Vector {
        match dtype {
            DType::F32 => self.vectors[0],
            DType::F64 => self.vectors[1],
            _ => Scalar,
        }
    }

    /// Returns the function of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<&'static Self> {
        FUNCTIONS.iter().find(|function| function.name == name)
    }
}

/// Declares a function of a few instructions.
const fn cheap(name: &'static str) -> Function {
    Function::new(name, Cheap::All)
}

/// Declares a function of a few instructions in `f32`, which is slow in other dtypes.
const fn cheap_in_f32(name: &'static str) -> Function {
    Function::new(name, Cheap::F32)
}

/// Declares a function that takes many instructions.
const fn call(name: &'static str) -> Function {
    Function::new(name, Cheap::None)
}

const FUNCTIONS: &[Function] = &[
    cheap("above"),
    cheap("abs").in_place(),
    call("acos").vector(All),
    call("acosh").vector(All),
    cheap("add").in_place(),
    cheap_in_f32("angle"),
    call("asin").vector(All),
    call("asin_slope").vector(All),
    call("asinh").vector(All),
    call("asinh_slope").vector(All),
    call("atan").vector(All),
    call("atan2").vector(All),
    call("atan_slope").vector(All),
    call("atanh").vector(All),
    call("atanh_slope").vector(All),
    call("bell").vector(All),
    call("binary_entropy").heavy(),
    cheap("bitwise_and"),
    cheap("bitwise_left_shift"),
    cheap("bitwise_not"),
    cheap("bitwise_or"),
    cheap("bitwise_right_shift"),
    cheap("bitwise_xor"),
    cheap("ceil"),
    call("celu").vector(All),
    cheap("clamp"),
    cheap("copysign"),
    call("cos").vector(Bounded),
    call("cosh").vector(All),
    cheap("deg2rad"),
    call("digamma").vector(All).heavy(),
    cheap("div").in_place(),
    call("divergence"),
    cheap("dropped"),
    call("elu").vector(All),
    call("entr").vector(All),
    cheap("eq"),
    call("erf").vector(All),
    call("erfc").vector(All),
    call("erfcx").vectors(Scalar, All).heavy(),
    call("erfcx_nth").vector(All).heavy(),
    call("erfinv").vectors(All, Near).heavy(),
    cheap_in_f32("exp").vector(All),
    call("exp2").vector(All),
    call("expm1").vector(All),
    cheap("floor"),
    call("floor_divide").vector(Common),
    cheap("fmax"),
    cheap("fmin"),
    call("fmod").vector(Common),
    cheap("frac"),
    call("gcd").heavy(),
    cheap("ge"),
    call("gelu").vector(All),
    call("gelu_tanh").vector(All),
    cheap("gt"),
    cheap("hardshrink"),
    cheap("hardsigmoid"),
    cheap("hardswish"),
    cheap("heaviside"),
    cheap("huber_error"),
    call("hypot").vector(All),
    call("i0").vector(All).heavy(),
    call("i0_nth").vector(All).heavy(),
    call("i0e").vector(All).heavy(),
    call("i0e_nth").vector(All).heavy(),
    call("i1").vector(All).heavy(),
    call("i1e").vector(All).heavy(),
    call("i1e_nth").vector(All).heavy(),
    cheap("isclose"),
    cheap("isclose_nan"),
    cheap("isfinite"),
    cheap("isinf"),
    cheap("isnan"),
    cheap("isneginf"),
    cheap("isposinf"),
    cheap("isreal"),
    call("lcm").heavy(),
    cheap("le"),
    cheap("leaky_relu"),
    cheap("lerp"),
    call("lgamma").vector(All).heavy(),
    cheap_in_f32("log").vector(Near),
    call("log10").vector(All),
    call("log1p").vector(All),
    call("log2").vector(All),
    call("log_ndtr").vector(All).heavy(),
    call("logaddexp").vector(All).heavy(),
    call("logaddexp2").vector(All).heavy(),
    cheap("logical_and"),
    cheap("logical_not"),
    cheap("logical_or"),
    cheap("logical_xor"),
    call("logit").vector(All).heavy(),
    call("logit_entropy").heavy(),
    call("logit_eps").vector(All).heavy(),
    call("logsigmoid").vector(All),
    cheap("lt"),
    cheap("maximum").in_place(),
    cheap("minimum").in_place(),
    call("mish").vector(All),
    cheap("mul").in_place(),
    cheap("nan_to_num"),
    call("ndtr").vector(All),
    call("ndtri").vectors(All, Near).heavy(),
    cheap("ne"),
    cheap("neg").in_place(),
    call("nextafter"),
    call("polygamma").heavy(),
    cheap_in_f32("pow").vector(All),
    cheap("rad2deg"),
    cheap("reciprocal"),
    cheap("relu").in_place(),
    cheap("relu6"),
    call("remainder").vector(Common),
    cheap("round"),
    call("round_decimals"),
    cheap_in_f32("rsqrt"),
    cheap("select"),
    call("selu").vector(All),
    cheap("sgn"),
    cheap_in_f32("sigmoid").vector(All),
    cheap("signbit"),
    call("silu").vector(All),
    call("sin").vector(Bounded),
    call("sinc").vector(All).heavy(),
    call("sinc_nth").vector(All).heavy(),
    call("sinh").vector(All),
    cheap("smooth_error"),
    call("soft_margin").heavy(),
    call("softplus").vector(All),
    cheap("softshrink"),
    cheap("softsign"),
    cheap_in_f32("sqrt"),
    cheap("square").in_place(),
    call("stirling").heavy(),
    cheap("sub").in_place(),
    call("tan").vector(Bounded),
    cheap_in_f32("tanh").vector(All),
    call("tanhshrink").vector(All).heavy(),
    cheap("trunc"),
    call("trunc_divide"),
    call("vanishing").vector(All),
    call("xlog1py").vector(All),
    call("xlogy").vector(All),
    call("zeta").heavy(),
];
