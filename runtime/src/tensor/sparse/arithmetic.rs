//! Sums, elementwise products, and functions that map zero to zero.

use nomina_core::op::Op;
use nomina_core::rule::{self, DimArg};
use nomina_core::{DType, Result, Scalar};
use nomina_macros::forms;

use super::{AnyLayout, DynSparse, about, dense};
use crate::call;
use crate::tensor::{AddOptions, DynTensor, ReduceOptions};

/// A factor of a sparse tensor.
#[derive(Clone, Copy, Debug)]
pub enum SparseOperand<'a> {
    /// A number.
    Scalar(Scalar),
    /// A sparse tensor.
    Sparse(&'a DynSparse),
    /// A dense tensor.
    Dense(&'a DynTensor),
}

impl<'a> From<&'a DynSparse> for SparseOperand<'a> {
    fn from(x: &'a DynSparse) -> Self {
        Self::Sparse(x)
    }
}

impl<'a> From<&'a DynTensor> for SparseOperand<'a> {
    fn from(x: &'a DynTensor) -> Self {
        Self::Dense(x)
    }
}

macro_rules! from_number {
    ($($number:ty)*) => {$(
        impl From<$number> for SparseOperand<'_> {
            fn from(value: $number) -> Self {
                Self::Scalar(value.into())
            }
        }
    )*};
}
from_number!(bool i32 i64 f32 f64 Scalar);

/// Returns the factor; `None` for 1.
fn factor(options: AddOptions) -> Option<Scalar> {
    (options.alpha != Scalar::Int(1)).then_some(options.alpha)
}

impl DynSparse {
    /// Adds two sparse tensors of equal sizes; the result is sparse and names unify.
    ///
    /// # Errors
    /// If names do not unify, or sizes differ.
    #[forms(with = "but multiplies the right operand by `options.alpha`.")]
    pub fn add_with(&self, other: &Self, options: AddOptions) -> Result<Self> {
        self.plus(Op::Add, other, factor(options))
    }

    /// Subtracts two sparse tensors of equal sizes; names unify.
    ///
    /// # Errors
    /// Like [`DynSparse::add`]; also if the dtype is bool.
    pub fn sub(&self, other: &Self) -> Result<Self> {
        self.plus(Op::Sub, other, Some(Scalar::Int(-1)))
    }

    /// Like [`DynSparse::sub`], but multiplies the right operand by `options.alpha`.
    ///
    /// # Errors
    /// Like [`DynSparse::sub`].
    pub fn sub_with(&self, other: &Self, options: AddOptions) -> Result<Self> {
        self.plus(Op::Sub, other, Some(negated(options.alpha)))
    }

    fn plus(&self, op: Op, other: &Self, factor: Option<Scalar>) -> Result<Self> {
        let fail = |e| about(e, &[self.seen(), other.seen()]);
        let names = rule::unify(op.name(), &self.names, &other.names).map_err(fail)?;
        let raw = call::sparse_add(op, &self.raw, &other.raw, factor).map_err(fail)?;
        Ok(Self::new(raw, names))
    }

    /// Adds a dense tensor of equal sizes; the result is dense and names unify.
    ///
    /// # Errors
    /// If names do not unify, or sizes differ.
    pub fn add_dense(&self, other: &DynTensor) -> Result<DynTensor> {
        let fail = |e| about(e, &[self.seen(), dense(other)]);
        let names = rule::unify("add", &self.names, other.names()).map_err(fail)?;
        let raw = call::add_dense(Op::Add, other.raw(), &self.raw, None).map_err(fail)?;
        Ok(DynTensor::new(raw, names))
    }

    /// Multiplies by a number, or elementwise by a tensor of equal sizes; zeros stay zero for any
    /// factor.
    ///
    /// # Errors
    /// If names do not unify, or sizes differ.
    pub fn mul<'a>(&self, other: impl Into<SparseOperand<'a>>) -> Result<Self> {
        let (raw, names) = match other.into() {
            SparseOperand::Scalar(number) => return self.map(Op::Mul, &[number]),
            SparseOperand::Sparse(other) => {
                let fail = |e| about(e, &[self.seen(), other.seen()]);
                let names = rule::unify("mul", &self.names, &other.names).map_err(fail)?;
                (
                    call::sparse_mul(&self.raw, &other.raw).map_err(fail)?,
                    names,
                )
            }
            SparseOperand::Dense(other) => {
                let fail = |e| about(e, &[self.seen(), dense(other)]);
                let names = rule::unify("mul", &self.names, other.names()).map_err(fail)?;
                (
                    call::mul_dense(&self.raw, other.raw()).map_err(fail)?,
                    names,
                )
            }
        };
        Ok(Self::new(raw, names))
    }

    /// Divides by a number.
    ///
    /// # Errors
    /// If memory runs out.
    pub fn div(&self, other: impl Into<Scalar>) -> Result<Self> {
        self.map(Op::Div, &[other.into()])
    }

    /// Applies an elementwise operator that maps zero to zero to the values.
    pub(in crate::tensor) fn map(&self, op: Op, rest: &[Scalar]) -> Result<Self> {
        let raw = call::sparse_map(op, &self.raw, rest).map_err(|e| self.blame(e))?;
        Ok(Self::new(raw, self.names.clone()))
    }

    /// Computes the sum over dims, by name or position: sparse if a sparse dim is left, else dense.
    ///
    /// # Errors
    /// If a dim does not exist.
    pub fn sum<'a>(&self, dim: impl Into<DimArg<'a>>) -> Result<AnyLayout> {
        self.summed(&dim.into(), None)
    }

    /// Like [`DynSparse::sum`], but in another dtype, or with the dims kept.
    ///
    /// # Errors
    /// Like [`DynSparse::sum`].
    pub fn sum_with<'a>(
        &self,
        dim: impl Into<DimArg<'a>>,
        options: ReduceOptions,
    ) -> Result<AnyLayout> {
        let dim = dim.into();
        let keepdim = dim.keepdim() || options.keepdim;
        self.summed(&dim.with_keepdim(keepdim), options.dtype)
    }

    fn summed(&self, dim: &DimArg<'_>, dtype: Option<DType>) -> Result<AnyLayout> {
        let positions = dim
            .positions("sum", &self.names)
            .map_err(|e| self.blame(e))?;
        let keepdim = dim.keepdim();
        let names = rule::reduce(&self.names, &positions, keepdim);
        let sum = call::sparse_sum(&self.raw, &positions, keepdim, dtype);
        Ok(match sum.map_err(|e| self.blame(e))? {
            call::SparseSum::Sparse(raw) => AnyLayout::Sparse(Self::new(raw, names)),
            call::SparseSum::Dense(raw) => AnyLayout::Dense(DynTensor::new(raw, names)),
        })
    }
}

/// Negates a number.
fn negated(number: Scalar) -> Scalar {
    match number {
        Scalar::Bool(value) => Scalar::Int(-i64::from(value)),
        Scalar::Int(value) => Scalar::Int(value.wrapping_neg()),
        Scalar::Float(value) => Scalar::Float(-value),
        Scalar::Complex(value) => Scalar::Complex(-value),
    }
}

impl DynTensor {
    /// Adds a sparse tensor of equal sizes; the result is dense and names unify.
    ///
    /// # Errors
    /// If names do not unify, or sizes differ.
    #[forms(with = "but multiplies the sparse operand by `options.alpha`.")]
    pub fn add_sparse_with(&self, other: &DynSparse, options: AddOptions) -> Result<Self> {
        let fail = |e| about(e, &[dense(self), other.seen()]);
        let names = rule::unify("add", self.names(), &other.names).map_err(fail)?;
        let raw = call::add_dense(Op::Add, self.raw(), &other.raw, factor(options));
        Ok(Self::new(raw.map_err(fail)?, names))
    }
}

macro_rules! maps {
    ($($op:ident $method:ident $doc:literal;)*) => {
        impl DynSparse {$(
            #[doc = $doc]
            ///
            /// # Errors
            /// If the operator does not support the dtype.
            pub fn $method(&self) -> Result<Self> {
                self.map(Op::$op, &[])
            }
        )*}
    };
}

maps! {
    Neg neg "The values negated.";
    Abs abs "Absolute values.";
    Sgn sgn "Signs; of complex values, values of magnitude 1.";
    Sign sign "Signs.";
    Square square "Squares.";
    Sqrt sqrt "Square roots.";
    Relu relu "Values below zero as zero.";
    Floor floor "Rounded down.";
    Ceil ceil "Rounded up.";
    Round round "Rounded to the nearest integer, halves to even.";
    Trunc trunc "Rounded towards zero.";
    Frac frac "The fractional part.";
    Sin sin "Sines.";
    Tan tan "Tangents.";
    Asin asin "Arc sines.";
    Atan atan "Arc tangents.";
    Sinh sinh "Hyperbolic sines.";
    Tanh tanh "Hyperbolic tangents.";
    Asinh asinh "Inverse hyperbolic sines.";
    Atanh atanh "Inverse hyperbolic tangents.";
    Expm1 expm1 "*e* to the power, less one.";
    Log1p log1p "Logarithms of one plus the value.";
    Erf erf "Error functions.";
    Erfinv erfinv "Inverse error functions.";
    Deg2rad deg2rad "Degrees as radians.";
    Rad2deg rad2deg "Radians as degrees.";
    Isnan isnan "Whether a value is NaN.";
    Isinf isinf "Whether a value is infinite.";
}
