//! Elementwise operators with special rules, and computed results moved into self.

use nomina_core::op::Op;
use nomina_core::{Error, ErrorKind, Result, rule};
use nomina_macros::forms;
use smallvec::SmallVec;

use super::family::{self, in_place_as};
use super::{DynTensor, Operand, about};
use crate::call;

impl DynTensor {
    /// Clamps elements to between `min` and `max`; `None` sets no limit.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if both are `None`. Also if names do not unify, sizes do not
    /// broadcast, or the dtype has no order.
    #[forms(out)]
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

    /// Clamps elements in place.
    ///
    /// # Errors
    /// Like [`DynTensor::clamp`]; also if the names, sizes or dtype of the result are not those of
    /// `self`.
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

    /// Writes a computed result into `self`, by the rule of in-place operators.
    ///
    /// # Errors
    /// If the result has other sizes, names that do not match those of `self`, or a dtype that
    /// cannot be stored in `self`. Nothing is changed in that case.
    pub fn overwrite(&mut self, op: Op, result: Self) -> Result<&mut Self> {
        let name = op.name();
        if self.shape() != result.shape() {
            let what = "the result's sizes are not self's";
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
}

fn with_bounds<'a>(
    x: &'a DynTensor,
    min: Option<Operand<'a>>,
    max: Option<Operand<'a>>,
) -> SmallVec<[&'a DynTensor; 3]> {
    let bounds = [min, max].into_iter().flatten().filter_map(Operand::tensor);
    std::iter::once(x).chain(bounds).collect()
}
