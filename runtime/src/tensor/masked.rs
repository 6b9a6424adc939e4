//! Elements selected by a condition: where, masked_fill.

use nomina_core::op::Op;
use nomina_core::{DType, Error, ErrorKind, Names, Result, Scalar, rule};

use super::family::{self, in_place_as};
use super::{DynTensor, Operand, about};
use crate::Device;
use crate::call::{self, Arg};
use crate::raw::{Raw, RawMut};

impl DynTensor {
    /// Selects from `x` where `self`, a bool tensor, is true, from `other` elsewhere: PyTorch's
    /// `where`.
    ///
    /// # Errors
    /// [`ErrorKind::DType`] if `self` is not bool. Also if names do not unify, or sizes do not
    /// broadcast.
    pub fn where_cond<'a>(
        &'a self,
        x: impl Into<Operand<'a>>,
        other: impl Into<Operand<'a>>,
    ) -> Result<Self> {
        family::pointwise(Op::Where, &[self.into(), x.into(), other.into()])
    }

    /// Like [`DynTensor::where_cond`], but writes to `out`.
    ///
    /// # Errors
    /// Like [`DynTensor::where_cond`]; also if `out` cannot hold the result.
    pub fn where_cond_out<'a>(
        &'a self,
        x: impl Into<Operand<'a>>,
        other: impl Into<Operand<'a>>,
        out: &mut Self,
    ) -> Result<()> {
        family::pointwise_out(Op::Where, &[self.into(), x.into(), other.into()], out)
    }

    /// Writes `value`, a number or a zero-dim tensor, where `mask` is true.
    ///
    /// # Errors
    /// [`ErrorKind::DType`] if the mask is not bool, [`ErrorKind::Rank`] if it has more dims than
    /// `self` and any dim has a name, or `value` has dims. Also if names do not unify, or sizes do
    /// not broadcast.
    pub fn masked_fill<'a>(
        &'a self,
        mask: &'a Self,
        value: impl Into<Operand<'a>>,
    ) -> Result<Self> {
        require_bool("masked_fill", "the mask", mask)?;
        let value = self.as_own(Op::MaskedFill, value.into())?;
        let names = rule::masked_fill("masked_fill", &self.names, &mask.names)
            .map_err(|e| about(e, &[self, mask]))?;
        let operands = [self.into(), mask.into(), value.operand()];
        family::pointwise_as(Op::MaskedFill, &operands, names)
    }

    /// Writes `value` where `mask` is true, in place.
    ///
    /// # Errors
    /// Like [`DynTensor::masked_fill`]; also if the result has other names or sizes than `self`.
    pub fn masked_fill_<'a>(
        &mut self,
        mask: &Self,
        value: impl Into<Operand<'a>>,
    ) -> Result<&mut Self> {
        require_bool("masked_fill", "the mask", mask)?;
        let value = self.as_own(Op::MaskedFill, value.into())?;
        let names = rule::masked_fill_in_place("masked_fill", &self.names, &mask.names)
            .map_err(|e| about(e, &[self, mask]))?;
        in_place_as(self, names, &[mask], |dest| {
            let rest = [Arg::Tensor(&mask.raw), value.arg()];
            call::pointwise_in_place(Op::MaskedFill, dest, &rest)
        })?;
        Ok(self)
    }

    /// Converts a value to fill in to the category of self, like a cast: it never promotes.
    pub(super) fn as_own(&self, op: Op, value: Operand<'_>) -> Result<FillValue> {
        FillValue::new(op, value, self.dtype(), self.device())
    }
}

/// A value to fill in: a number, or a recorded tensor without dims, whose gradient is the sum over
/// the filled positions.
#[allow(clippy::large_enum_variant, reason = "lives for one call")]
pub(super) enum FillValue {
    Number(Scalar),
    Recorded(DynTensor),
}

impl FillValue {
    /// Converts a value to a dtype, like a cast.
    pub(super) fn new(op: Op, value: Operand<'_>, dtype: DType, device: Device) -> Result<Self> {
        let value = match value {
            Operand::Scalar(value) => value,
            Operand::Tensor(x) if x.rank() == 0 => {
                if x.raw.requires_grad() && (dtype.is_float() || dtype.is_complex()) {
                    let raw = if x.dtype().is_complex() && !dtype.is_complex() {
                        call::real(&x.raw)?
                    } else {
                        x.raw.clone()
                    };
                    let raw = call::to_device(&call::to_dtype(&raw, dtype)?, device)?;
                    return Ok(Self::Recorded(DynTensor::new(raw, Names::unnamed(0))));
                }
                x.raw.item()?
            }
            Operand::Tensor(x) => {
                let what = "the value is a tensor with dims";
                return Err(Error::new(ErrorKind::Rank, op.name(), what)
                    .operand(&x.names, x.shape())
                    .hint("give a number or a zero-dim tensor"));
            }
        };
        Ok(Self::Number(cast(value, dtype)))
    }

    fn operand(&self) -> Operand<'_> {
        match self {
            Self::Number(value) => Operand::Scalar(*value),
            Self::Recorded(x) => Operand::Tensor(x),
        }
    }

    fn arg(&self) -> Arg<'_> {
        match self {
            Self::Number(value) => Arg::Scalar(*value),
            Self::Recorded(x) => Arg::Tensor(&x.raw),
        }
    }

    /// Fills with the value.
    pub(super) fn fill(&self, dest: RawMut<'_>) -> Result<()> {
        match self {
            Self::Number(value) => call::fill(dest, *value),
            Self::Recorded(x) => call::copy_into(dest, &x.raw),
        }
    }

    /// Returns the value as a tensor without dims.
    pub(super) fn to_raw(&self, dtype: DType, device: Device) -> Result<Raw> {
        match self {
            Self::Number(value) => call::full(&[], *value, dtype, device),
            Self::Recorded(x) => Ok(x.raw.clone()),
        }
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
