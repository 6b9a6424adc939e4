//! Optional arguments.

use nomina_core::{DType, Scalar};

/// Options of `sum_with`, `mean_with` and other reductions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReduceOptions {
    /// Whether reduced dims stay, with size 1.
    pub keepdim: bool,
    /// The dtype to convert to before reducing; also the result's.
    pub dtype: Option<DType>,
}

/// Options of `var_with` and `std_with`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VarOptions {
    /// What is taken off the count: 1 for a sample's variance, 0 for a population's.
    pub correction: f64,
    /// Whether reduced dims stay, with size 1.
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
    /// What the right operand is multiplied by.
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
    /// What self is multiplied by; 0 leaves it out, NaN and all.
    pub beta: Scalar,
    /// What the product is multiplied by.
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
