//! Elements chosen by a condition: where, masked_fill.

use nomina_core::op::Op;
use nomina_core::{DType, Error, ErrorKind, Result, Scalar, rule};

use super::family::{self, in_place_as};
use super::{DynTensor, Operand, about};
use crate::call::{self, Arg};

impl DynTensor {
    /// Takes from `x` where self, a bool tensor, holds, else from `other`: PyTorch's `where`.
    ///
    /// # Errors
    /// [`ErrorKind::DType`] when self is not bool; names that do not unify, sizes that do not
    /// broadcast.
    pub fn where_cond<'a>(
        &'a self,
        x: impl Into<Operand<'a>>,
        other: impl Into<Operand<'a>>,
    ) -> Result<Self> {
        family::pointwise(Op::Where, &[self.into(), x.into(), other.into()])
    }

    /// [`DynTensor::where_cond`] into `out`.
    ///
    /// # Errors
    /// As [`DynTensor::where_cond`], and when `out` does not hold the result.
    pub fn where_cond_out<'a>(
        &'a self,
        x: impl Into<Operand<'a>>,
        other: impl Into<Operand<'a>>,
        out: &mut Self,
    ) -> Result<()> {
        family::pointwise_out(Op::Where, &[self.into(), x.into(), other.into()], out)
    }

    /// Writes `value`, a number or a zero-dim tensor, where `mask` holds.
    ///
    /// # Errors
    /// [`ErrorKind::DType`] when the mask is not bool, [`ErrorKind::Rank`] when it has more dims
    /// than self and any dim has a name, or `value` has dims; names that do not unify, sizes that
    /// do not broadcast.
    pub fn masked_fill<'a>(
        &'a self,
        mask: &'a Self,
        value: impl Into<Operand<'a>>,
    ) -> Result<Self> {
        let value = self.fill_value(Op::MaskedFill, mask, value.into())?;
        let names = rule::masked_fill("masked_fill", &self.names, &mask.names)
            .map_err(|e| about(e, &[self, mask]))?;
        let operands = [self.into(), mask.into(), Operand::Scalar(value)];
        family::pointwise_as(Op::MaskedFill, &operands, names)
    }

    /// Writes `value` where `mask` holds, in place.
    ///
    /// # Errors
    /// As [`DynTensor::masked_fill`], and when self does not have the names and sizes that result.
    pub fn masked_fill_<'a>(
        &mut self,
        mask: &Self,
        value: impl Into<Operand<'a>>,
    ) -> Result<&mut Self> {
        let value = self.fill_value(Op::MaskedFill, mask, value.into())?;
        let names = rule::masked_fill_in_place("masked_fill", &self.names, &mask.names)
            .map_err(|e| about(e, &[self, mask]))?;
        in_place_as(self, names, &[mask], |dest| {
            let rest = [Arg::Tensor(&mask.raw), Arg::Scalar(value)];
            call::pointwise_in_place(Op::MaskedFill, dest, &rest)
        })?;
        Ok(self)
    }

    fn fill_value(&self, op: Op, mask: &Self, value: Operand<'_>) -> Result<Scalar> {
        require_bool(op.name(), "the mask", mask)?;
        self.as_own(op, value)
    }

    /// A number, converted to self's category as a cast would: what is filled in never promotes.
    pub(super) fn as_own(&self, op: Op, value: Operand<'_>) -> Result<Scalar> {
        let value = match value {
            Operand::Scalar(value) => value,
            Operand::Tensor(x) if x.rank() == 0 => x.raw.item()?,
            Operand::Tensor(x) => {
                let what = "the value is a tensor with dims";
                return Err(Error::new(ErrorKind::Rank, op.name(), what)
                    .operand(&x.names, x.shape())
                    .hint("give a number or a zero-dim tensor"));
            }
        };
        Ok(cast(value, self.dtype()))
    }
}

fn cast(value: Scalar, dtype: DType) -> Scalar {
    use nomina_core::Category::{Bool, Complex, Float, Integer};
    match dtype.category() {
        Bool => Scalar::Bool(value.to_bool()),
        Integer => Scalar::Int(value.to_i64()),
        Float => Scalar::Float(value.to_f64()),
        Complex => Scalar::Complex(value.to_complex()),
    }
}

fn require_bool(op: &'static str, who: &str, x: &DynTensor) -> Result<()> {
    if x.dtype() == DType::Bool {
        return Ok(());
    }
    let what = format!("{who} is {}, not bool", x.dtype());
    Err(Error::new(ErrorKind::DType, op, what)
        .operand(&x.names, x.shape())
        .hint("compare it first, as in `mask.ne(0)`"))
}
//
