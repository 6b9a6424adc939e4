//! Elementwise operators with a rule or an argument of their own.

use nomina_core::op::Op;
use nomina_core::rule;
use nomina_core::{DType, Error, ErrorKind, Promoter, Result, Scalar};
use smallvec::{SmallVec, smallvec};

use super::family::{self, in_place_as, tensors};
use super::{AddOptions, DynTensor, Operand, about};
use crate::call::{self, Arg};
use crate::config::default_dtype;

type Operands<'a> = SmallVec<[Operand<'a>; 3]>;

impl DynTensor {
    /// Adds `other`, multiplied by `alpha`.
    ///
    /// # Errors
    /// As `add`; [`ErrorKind::DType`] when `alpha` is of a higher category than the result.
    pub fn add_with<'a>(
        &'a self,
        other: impl Into<Operand<'a>>,
        options: AddOptions,
    ) -> Result<Self> {
        let (op, operands) = scaled(Op::Add, self, other.into(), options.alpha)?;
        family::pointwise(op, &operands).map_err(|e| e.in_op("add"))
    }

    /// Adds `other`, multiplied by `alpha`, in place.
    ///
    /// # Errors
    /// As `add_`, and as [`DynTensor::add_with`].
    pub fn add_with_<'a>(
        &mut self,
        other: impl Into<Operand<'a>>,
        options: AddOptions,
    ) -> Result<&mut Self> {
        self.scaled_in_place(Op::Add, other.into(), options.alpha)
    }

    /// Adds `other`, multiplied by `alpha`, into `out`.
    ///
    /// # Errors
    /// As `add_out`, and as [`DynTensor::add_with`].
    pub fn add_with_out<'a>(
        &'a self,
        other: impl Into<Operand<'a>>,
        options: AddOptions,
        out: &mut Self,
    ) -> Result<()> {
        let (op, operands) = scaled(Op::Add, self, other.into(), options.alpha)?;
        family::pointwise_out(op, &operands, out).map_err(|e| e.in_op("add"))
    }

    /// Subtracts `other`, multiplied by `alpha`.
    ///
    /// # Errors
    /// As `sub`; [`ErrorKind::DType`] when `alpha` is of a higher category than the result.
    pub fn sub_with<'a>(
        &'a self,
        other: impl Into<Operand<'a>>,
        options: AddOptions,
    ) -> Result<Self> {
        let (op, operands) = scaled(Op::Sub, self, other.into(), options.alpha)?;
        family::pointwise(op, &operands).map_err(|e| e.in_op("sub"))
    }

    /// Subtracts `other`, multiplied by `alpha`, in place.
    ///
    /// # Errors
    /// As `sub_`, and as [`DynTensor::sub_with`].
    pub fn sub_with_<'a>(
        &mut self,
        other: impl Into<Operand<'a>>,
        options: AddOptions,
    ) -> Result<&mut Self> {
        self.scaled_in_place(Op::Sub, other.into(), options.alpha)
    }

    /// Subtracts `other`, multiplied by `alpha`, into `out`.
    ///
    /// # Errors
    /// As `sub_out`, and as [`DynTensor::sub_with`].
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

    /// Limits elements to at least `min` and at most `max`; `None` sets no limit.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] when both are `None`; names that do not unify, sizes that do not
    /// broadcast, a dtype that has no order.
    pub fn clamp<'a>(
        &'a self,
        min: impl Into<Option<Operand<'a>>>,
        max: impl Into<Option<Operand<'a>>>,
    ) -> Result<Self> {
        let (min, max) = (min.into(), max.into());
        let all = with_bounds(self, min, max);
        let names = family::unified(Op::Clamp, &all)?;
        let arg = |bound: Option<Operand<'a>>| bound.map(Operand::arg);
        match call::clamp(&self.raw, arg(min), arg(max)) {
            Ok(raw) => Ok(Self::new(raw, names)),
            Err(error) => Err(about(error, &all)),
        }
    }

    /// Limits elements in place.
    ///
    /// # Errors
    /// As [`DynTensor::clamp`], and when the result's names, sizes or dtype are not self's.
    pub fn clamp_<'a>(
        &mut self,
        min: impl Into<Option<Operand<'a>>>,
        max: impl Into<Option<Operand<'a>>>,
    ) -> Result<&mut Self> {
        let (min, max) = (min.into(), max.into());
        let names = {
            let all = with_bounds(self, min, max);
            let computed = family::unified(Op::Clamp, &all)?;
            for bound in &all[1..] {
                rule::broadcast_into("clamp", self.shape(), bound.shape())
                    .map_err(|e| about(e, &[self, bound]))?;
            }
            rule::in_place("clamp", &self.names, &computed).map_err(|e| about(e, &all))?
        };
        let others: SmallVec<[&Self; 2]> = [min, max]
            .into_iter()
            .flatten()
            .filter_map(Operand::tensor)
            .collect();
        let (dtype, rank) = (self.dtype(), self.rank());
        let bounds = call::clamp_bounds(dtype, rank, min.map(Operand::arg), max.map(Operand::arg))
            .map_err(|e| about(e, &[self]))?;
        in_place_as(self, names, &others, |dest| {
            call::pointwise_in_place(Op::Clamp, dest, &bounds)
        })?;
        Ok(self)
    }

    /// Limits elements into `out`.
    ///
    /// # Errors
    /// As [`DynTensor::clamp`], and when `out` does not hold the result.
    pub fn clamp_out<'a>(
        &'a self,
        min: impl Into<Option<Operand<'a>>>,
        max: impl Into<Option<Operand<'a>>>,
        out: &mut Self,
    ) -> Result<()> {
        family::store(Op::Clamp, self.clamp(min, max)?, out)
    }

    /// Moves a computed result into self, by the rule of in-place operators.
    pub(super) fn overwrite(&mut self, op: Op, result: Self) -> Result<&mut Self> {
        let name = op.name();
        if self.shape() != result.shape() {
            let what = "the result does not have self's sizes";
            return Err(Error::new(ErrorKind::Shape, name, what)
                .operand(&self.names, self.shape())
                .operand(&result.names, result.shape())
                .hint(format!("use `{name}`, which makes a new tensor")));
        }
        let names = rule::in_place(name, &self.names, &result.names)
            .map_err(|e| about(e, &[self, &result]))?;
        rule::dtype::cast_to(name, result.dtype(), self.dtype()).map_err(|e| about(e, &[self]))?;
        in_place_as(self, names, &[], |dest| call::copy_into(dest, &result.raw))?;
        Ok(self)
    }

    /// Adds the product of two tensors, times `value`.
    ///
    /// # Errors
    /// Names that do not unify, sizes that do not broadcast.
    pub fn addcmul<'a>(
        &'a self,
        tensor1: &'a Self,
        tensor2: impl Into<Operand<'a>>,
        value: impl Into<Scalar>,
    ) -> Result<Self> {
        let tensor2 = tensor2.into();
        let value = value.into();
        let operands: Operands<'_> = smallvec![self.into(), tensor1.into(), tensor2];
        if value == Scalar::Int(1) {
            return family::pointwise(Op::Addcmul, &operands);
        }
        check_alpha(Op::Addcmul, &operands, value)?;
        // x + value*y*z: the factor goes to the operand that is smaller.
        let names = family::unified(Op::Addcmul, &tensors(&operands))?;
        let scaled = family::pointwise(Op::Mul, &[tensor1.into(), value.into()])?;
        let operands: Operands<'_> = smallvec![self.into(), (&scaled).into(), tensor2];
        family::pointwise_as(Op::Addcmul, &operands, names)
    }

    /// Adds the product of two tensors, times `value`, in place.
    ///
    /// # Errors
    /// As [`DynTensor::addcmul`], and when the result's names, sizes or dtype are not self's.
    pub fn addcmul_(
        &mut self,
        tensor1: &Self,
        tensor2: &Self,
        value: impl Into<Scalar>,
    ) -> Result<&mut Self> {
        let value = value.into();
        if value == Scalar::Int(1) {
            family::pointwise_in_place(Op::Addcmul, self, &[tensor1.into(), tensor2.into()])?;
            return Ok(self);
        }
        let result = self.addcmul(tensor1, tensor2, value)?;
        self.overwrite(Op::Addcmul, result)
    }

    /// Adds the product of two tensors, times `value`, into `out`.
    ///
    /// # Errors
    /// As [`DynTensor::addcmul`], and when `out` does not hold the result.
    pub fn addcmul_out(
        &self,
        tensor1: &Self,
        tensor2: &Self,
        value: impl Into<Scalar>,
        out: &mut Self,
    ) -> Result<()> {
        family::store(Op::Addcmul, self.addcmul(tensor1, tensor2, value)?, out)
    }

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

fn with_bounds<'a>(
    x: &'a DynTensor,
    min: Option<Operand<'a>>,
    max: Option<Operand<'a>>,
) -> SmallVec<[&'a DynTensor; 3]> {
    let bounds = [min, max].into_iter().flatten().filter_map(Operand::tensor);
    std::iter::once(x).chain(bounds).collect()
}

/// `x + alpha * y` is one pass of addcmul, `x - alpha * y` the same with `-alpha`.
fn scaled<'a>(
    op: Op,
    x: &'a DynTensor,
    other: Operand<'a>,
    alpha: Scalar,
) -> Result<(Op, Operands<'a>)> {
    let mut operands: Operands<'a> = smallvec![x.into(), other];
    match factor(op, &operands, alpha)? {
        None => Ok((op, operands)),
        Some(factor) => {
            operands.push(Operand::Scalar(factor));
            Ok((Op::Addcmul, operands))
        }
    }
}

/// What the right operand of add or sub is multiplied by; `None` for a plain sum or difference.
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

/// A factor may not lift the result to a higher category.
fn check_alpha(op: Op, operands: &[Operand<'_>], alpha: Scalar) -> Result<()> {
    let mut common = Promoter::new(default_dtype());
    for operand in operands {
        match operand {
            Operand::Tensor(x) => common.tensor(x.dtype(), x.rank()),
            Operand::Scalar(value) => common.scalar(*value),
        }
    }
    let common = common.result();
    // The row's own dtypes: the scaled sum is computed by another's.
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
        let what = format!("the factor {alpha} is not a number of {common}");
        return Err(about(
            Error::new(ErrorKind::DType, op.name(), what),
            &tensors(operands),
        )
        .hint("convert the tensor first with `to`"));
    }
    Ok(())
}
