//! Elementwise operators with a rule of their own, and computed results moved into self.

use nomina_core::op::Op;
use nomina_core::{Error, ErrorKind, Result, rule};
use nomina_macros::forms;
use smallvec::SmallVec;

use super::family::{self, in_place_as};
use super::{DynTensor, Operand, about};
use crate::call;

impl DynTensor {
    /// Limits elements to at least `min` and at most `max`; `None` sets no limit.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if both are `None`; names that do not unify, sizes that do not
    /// broadcast, a dtype that has no order.
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

    /// Limits elements in place.
    ///
    /// # Errors
    /// Like [`DynTensor::clamp`]; also if the result's names, sizes or dtype are not self's.
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

    /// Writes a computed result into self, by the rule of in-place operators.
    ///
    /// # Errors
    /// If the result has other sizes, names that self's do not take, or a dtype that is not cast to
    /// self's; nothing is written then.
    pub fn overwrite(&mut self, op: Op, result: Self) -> Result<&mut Self> {
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
}

fn with_bounds<'a>(
    x: &'a DynTensor,
    min: Option<Operand<'a>>,
    max: Option<Operand<'a>>,
) -> SmallVec<[&'a DynTensor; 3]> {
    let bounds = [min, max].into_iter().flatten().filter_map(Operand::tensor);
    std::iter::once(x).chain(bounds).collect()
}
