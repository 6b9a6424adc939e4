//! Sums with a factor: add and sub with alpha.

use nomina_core::op::Op;
use nomina_core::{Error, ErrorKind, Promoter, Result, Scalar};
use smallvec::{SmallVec, smallvec};

use super::family::{self, tensors};
use super::{AddOptions, DynTensor, Operand, about};
use crate::config::default_dtype;

type ScaledOperands<'a> = SmallVec<[Operand<'a>; 3]>;

impl DynTensor {
    /// Adds `options.alpha` times `other`.
    ///
    /// # Errors
    /// Like `add`; also [`ErrorKind::DType`] if `alpha` is of a higher category than the result.
    pub fn add_with<'a>(
        &'a self,
        other: impl Into<Operand<'a>>,
        options: AddOptions,
    ) -> Result<Self> {
        let (op, operands) = scaled(Op::Add, self, other.into(), options.alpha)?;
        family::pointwise(op, &operands).map_err(|e| e.in_op("add"))
    }

    /// Adds `options.alpha` times `other`, in place.
    ///
    /// # Errors
    /// Like `add_` and [`DynTensor::add_with`].
    pub fn add_with_<'a>(
        &mut self,
        other: impl Into<Operand<'a>>,
        options: AddOptions,
    ) -> Result<&mut Self> {
        self.scaled_in_place(Op::Add, other.into(), options.alpha)
    }

    /// Adds `options.alpha` times `other` and writes to `out`.
    ///
    /// # Errors
    /// Like `add_out` and [`DynTensor::add_with`].
    pub fn add_with_out<'a>(
        &'a self,
        other: impl Into<Operand<'a>>,
        options: AddOptions,
        out: &mut Self,
    ) -> Result<()> {
        let (op, operands) = scaled(Op::Add, self, other.into(), options.alpha)?;
        family::pointwise_out(op, &operands, out).map_err(|e| e.in_op("add"))
    }

    /// Subtracts `options.alpha` times `other`.
    ///
    /// # Errors
    /// Like `sub`; also [`ErrorKind::DType`] if `alpha` is of a higher category than the result.
    pub fn sub_with<'a>(
        &'a self,
        other: impl Into<Operand<'a>>,
        options: AddOptions,
    ) -> Result<Self> {
        let (op, operands) = scaled(Op::Sub, self, other.into(), options.alpha)?;
        family::pointwise(op, &operands).map_err(|e| e.in_op("sub"))
    }

    /// Subtracts `options.alpha` times `other`, in place.
    ///
    /// # Errors
    /// Like `sub_` and [`DynTensor::sub_with`].
    pub fn sub_with_<'a>(
        &mut self,
        other: impl Into<Operand<'a>>,
        options: AddOptions,
    ) -> Result<&mut Self> {
        self.scaled_in_place(Op::Sub, other.into(), options.alpha)
    }

    /// Subtracts `options.alpha` times `other` and writes to `out`.
    ///
    /// # Errors
    /// Like `sub_out` and [`DynTensor::sub_with`].
    pub fn sub_with_out<'a>(
        &'a self,
        other: impl Into<Operand<'a>>,
        options: AddOptions,
        out: &mut Self,
    ) -> Result<()> {
        let (op, operands) = scaled(Op::Sub, self, other.into(), options.alpha)?;
        family::pointwise_out(op, &operands, out).map_err(|e| e.in_op("sub"))
    }

    fn scaled_in_place(&mut self, op: Op, other: Operand<'_>, alpha: Scalar) -> Result<&mut Self> {
        let factor = factor(op, &[(&*self).into(), other], alpha)?;
        let done = match factor {
            None => family::pointwise_in_place(op, self, &[other]),
            Some(factor) => {
                family::pointwise_in_place(Op::Addcmul, self, &[other, Operand::Scalar(factor)])
            }
        };
        match done {
            Ok(()) => Ok(self),
            Err(error) => Err(error.in_op(op.name())),
        }
    }
}

/// Returns the operator and operands of a scaled sum: `x + alpha * y` is one pass of addcmul,
/// `x - alpha * y` the same with `-alpha`.
fn scaled<'a>(
    op: Op,
    x: &'a DynTensor,
    other: Operand<'a>,
    alpha: Scalar,
) -> Result<(Op, ScaledOperands<'a>)> {
    let mut operands: ScaledOperands<'a> = smallvec![x.into(), other];
    match factor(op, &operands, alpha)? {
        None => Ok((op, operands)),
        Some(factor) => {
            operands.push(Operand::Scalar(factor));
            Ok((Op::Addcmul, operands))
        }
    }
}

/// Returns the factor of the right operand of add or sub; `None` for a plain sum or difference.
fn factor(op: Op, operands: &[Operand<'_>], alpha: Scalar) -> Result<Option<Scalar>> {
    if alpha == Scalar::Int(1) {
        return Ok(None);
    }
    check_alpha(op, operands, alpha)?;
    Ok(Some(match (op, alpha) {
        (Op::Sub, Scalar::Bool(v)) => Scalar::Int(-i64::from(v)),
        (Op::Sub, Scalar::Int(v)) => Scalar::Int(v.wrapping_neg()),
        (Op::Sub, Scalar::Float(v)) => Scalar::Float(-v),
        (Op::Sub, Scalar::Complex(v)) => Scalar::Complex(-v),
        (_, alpha) => alpha,
    }))
}

/// Checks that a factor does not raise the category of the result.
pub(super) fn check_alpha(op: Op, operands: &[Operand<'_>], alpha: Scalar) -> Result<()> {
    let mut common = Promoter::new(default_dtype());
    for operand in operands {
        match operand {
            Operand::Tensor(x) => common.tensor(x.dtype(), x.rank()),
            Operand::Scalar(value) => common.scalar(*value),
        }
    }
    let common = common.result();
    // Checks the dtypes of the row itself: the scaled sum is computed by another operator.
    for dtype in operands
        .iter()
        .filter_map(|o| o.tensor())
        .map(DynTensor::dtype)
        .chain([common])
    {
        op.row()
            .check_dtype(dtype)
            .map_err(|e| about(e, &tensors(operands)))?;
    }
    if alpha.category() > common.category() {
        let what = format!("the factor {alpha} does not fit {common}");
        return Err(about(
            Error::new(ErrorKind::DType, op.name(), what),
            &tensors(operands),
        )
        .hint("convert the tensor first with `to`"));
    }
    Ok(())
}
