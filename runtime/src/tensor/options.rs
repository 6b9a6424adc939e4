//! Optional arguments.

use nomina_core::{DType, Scalar};

/// Options of `sum_with`, `mean_with` and other reductions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReduceOptions {
    /// Whether reduced dims are kept with size 1.
    pub keepdim: bool,
    /// The dtype to convert to before reducing, and the dtype of the result.
    pub dtype: Option<DType>,
}

/// Options of `var_with` and `std_with`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VarOptions {
    /// The number subtracted from the count: 1 for the variance of a sample, 0 for that of a
    /// population.
    pub correction: f64,
    /// Whether reduced dims are kept with size 1.
    pub keepdim: bool,
}

impl Default for VarOptions {
    fn default() -> Self {
        Self {
            correction: 1.0,
            keepdim: false,
        }
    }
}

/// Options of `add_with` and `sub_with`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AddOptions {
    /// The factor of the right operand.
    pub alpha: Scalar,
}

impl Default for AddOptions {
    fn default() -> Self {
        Self {
            alpha: Scalar::Int(1),
        }
    }
}

/// Options of `addmm_with`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AddmmOptions {
    /// The factor of `self`; 0 ignores it, including NaN.
    pub beta: Scalar,
    /// The factor of the product.
    pub alpha: Scalar,
}

impl Default for AddmmOptions {
    fn default() -> Self {
        Self {
            beta: Scalar::Int(1),
            alpha: Scalar::Int(1),
        }
    }
}
