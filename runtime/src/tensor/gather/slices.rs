//! Writing slices at the indices of a dim: `index_add` and similar.

use nomina_core::op::Op;
use nomina_core::rule::{self, DimRef};
use nomina_core::{Names, Result, Scalar};
use nomina_macros::forms;

use super::{IndexAddOptions, ScatterReduce, ScatterReduceOptions};
use crate::call;
use crate::call::{Arg, Target};
use crate::job::Update;
use crate::raw::Raw;
use crate::tensor::{DynTensor, Operand, about};

/// A call of `index_add` or a similar operator.
#[derive(Clone, Copy)]
struct Slices<'a> {
    op: Op,
    dim: usize,
    index: &'a DynTensor,
    source: &'a DynTensor,
    how: SliceUpdate,
}

/// The operation at each index.
#[derive(Clone, Copy)]
enum SliceUpdate {
    Add(Scalar),
    Copy,
    Reduce(ScatterReduce, bool),
}

impl Slices<'_> {
    fn names(&self, own: &DynTensor) -> Result<Names> {
        let (index, source) = (&self.index.names, &self.source.names);
        rule::index_into(self.op.name(), &own.names, self.dim, index, source)
            .map_err(|e| about(e, &[own, self.index, self.source]))
    }

    fn write(&self, own: &mut Raw) -> Result<()> {
        let at = Target {
            dim: self.dim,
            index: &self.index.raw,
            slices: true,
        };
        let source = &self.source.raw;
        match self.how {
            SliceUpdate::Add(Scalar::Int(1)) => {
                at.write(self.op, own.as_mut()?, source, Update::Add)
            }
            SliceUpdate::Add(alpha) => {
                let scaled = [Arg::Tensor(source), Arg::Scalar(alpha)];
                let scaled =
                    call::pointwise(Op::Mul, &scaled).map_err(|e| e.in_op(self.op.name()))?;
                at.write(self.op, own.as_mut()?, &scaled, Update::Add)
            }
            SliceUpdate::Copy => at.write(self.op, own.as_mut()?, source, Update::Set),
            SliceUpdate::Reduce(reduce, with) => {
                call::reduced(self.op, own, at, source, reduce, with)
            }
        }
    }

    fn in_place(&self, own: &mut DynTensor) -> Result<()> {
        let names = self.names(own)?;
        own.write_as(self.op, &names, &[self.index, self.source], |raw| {
            self.write(raw)
        })
    }

    fn new_tensor(&self, own: &DynTensor) -> Result<DynTensor> {
        let mut result = own.copy_as(self.names(own)?)?;
        self.in_place(&mut result)?;
        Ok(result)
    }
}

impl DynTensor {
    fn to_slices<'a>(
        &self,
        op: Op,
        dim: DimRef<'_>,
        index: &'a Self,
        source: &'a Self,
        how: SliceUpdate,
    ) -> Result<Slices<'a>> {
        Ok(Slices {
            op,
            dim: self.dim_at(op, dim)?,
            index,
            source,
            how,
        })
    }

    /// Returns a copy of `self` with the slices of `source` added at the indices of a dim, always
    /// in the order of the index. `source` has the dims of `self.index_select(dim, index)`.
    ///
    /// # Errors
    /// Like [`DynTensor::index_select`]; also if names do not unify, and
    /// [`Shape`](nomina_core::ErrorKind) or [`DType`](nomina_core::ErrorKind) if `source` has other
    /// sizes or another dtype.
    #[forms(with = "but with options.", out)]
    pub fn index_add_with<'a>(
        &self,
        dim: impl Into<DimRef<'a>>,
        index: &Self,
        source: &Self,
        options: IndexAddOptions,
    ) -> Result<Self> {
        let how = SliceUpdate::Add(options.alpha);
        self.to_slices(Op::IndexAdd, dim.into(), index, source, how)?
            .new_tensor(self)
    }

    /// Like [`DynTensor::index_add`], but in place.
    ///
    /// # Errors
    /// Like [`DynTensor::index_add`]. Nothing is changed in that case.
    #[forms(with = "but with options.")]
    pub fn index_add_with_<'a>(
        &mut self,
        dim: impl Into<DimRef<'a>>,
        index: &Self,
        source: &Self,
        options: IndexAddOptions,
    ) -> Result<&mut Self> {
        let how = SliceUpdate::Add(options.alpha);
        self.to_slices(Op::IndexAdd, dim.into(), index, source, how)?
            .in_place(self)?;
        Ok(self)
    }

    /// Returns a copy of `self` with the slices of `source` at the indices of a dim.
    ///
    /// # Errors
    /// Like [`DynTensor::index_add`].
    #[forms(out)]
    pub fn index_copy<'a>(
        &self,
        dim: impl Into<DimRef<'a>>,
        index: &Self,
        source: &Self,
    ) -> Result<Self> {
        self.to_slices(Op::IndexCopy, dim.into(), index, source, SliceUpdate::Copy)?
            .new_tensor(self)
    }

    /// Like [`DynTensor::index_copy`], but in place.
    ///
    /// # Errors
    /// Like [`DynTensor::index_add`]. Nothing is changed in that case.
    pub fn index_copy_<'a>(
        &mut self,
        dim: impl Into<DimRef<'a>>,
        index: &Self,
        source: &Self,
    ) -> Result<&mut Self> {
        self.to_slices(Op::IndexCopy, dim.into(), index, source, SliceUpdate::Copy)?
            .in_place(self)?;
        Ok(self)
    }

    /// Returns a copy of `self` with the slices of `source` reduced into it at the indices of a
    /// dim.
    ///
    /// # Errors
    /// Like [`DynTensor::index_add`].
    #[forms(with = "but with options.", out)]
    pub fn index_reduce_with<'a>(
        &self,
        dim: impl Into<DimRef<'a>>,
        index: &Self,
        source: &Self,
        reduce: ScatterReduce,
        options: ScatterReduceOptions,
    ) -> Result<Self> {
        let how = SliceUpdate::Reduce(reduce, options.include_self);
        self.to_slices(Op::IndexReduce, dim.into(), index, source, how)?
            .new_tensor(self)
    }

    /// Like [`DynTensor::index_reduce`], but in place.
    ///
    /// # Errors
    /// Like [`DynTensor::index_add`]. Nothing is changed in that case.
    #[forms(with = "but with options.")]
    pub fn index_reduce_with_<'a>(
        &mut self,
        dim: impl Into<DimRef<'a>>,
        index: &Self,
        source: &Self,
        reduce: ScatterReduce,
        options: ScatterReduceOptions,
    ) -> Result<&mut Self> {
        let how = SliceUpdate::Reduce(reduce, options.include_self);
        self.to_slices(Op::IndexReduce, dim.into(), index, source, how)?
            .in_place(self)?;
        Ok(self)
    }

    /// Returns a copy of `self` with `value`, a number or a zero-dim tensor, at the indices of a
    /// dim.
    ///
    /// # Errors
    /// Like [`DynTensor::index_select`]; also [`Rank`](nomina_core::ErrorKind) if `value` has dims.
    pub fn index_fill<'a, 'b>(
        &self,
        dim: impl Into<DimRef<'a>>,
        index: &Self,
        value: impl Into<Operand<'b>>,
    ) -> Result<Self> {
        let mut result = self.copy_as(self.names.clone())?;
        result.index_fill_(dim, index, value)?;
        Ok(result)
    }

    /// Like [`DynTensor::index_fill`], but in place.
    ///
    /// # Errors
    /// Like [`DynTensor::index_fill`]. Nothing is changed in that case.
    pub fn index_fill_<'a, 'b>(
        &mut self,
        dim: impl Into<DimRef<'a>>,
        index: &Self,
        value: impl Into<Operand<'b>>,
    ) -> Result<&mut Self> {
        let op = Op::IndexFill;
        let dim = self.dim_at(op, dim.into())?;
        let value = self.as_own(op, value.into())?;
        let value = value.to_raw(self.dtype(), self.device())?;
        let names = self.names.clone();
        self.write_as(op, &names, &[index], |raw| {
            let how = Update::Set;
            call::index_update(op, raw.as_mut()?, dim, &index.raw, &value, how, true)
        })?;
        Ok(self)
    }
}
