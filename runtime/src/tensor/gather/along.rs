//! Writing at an index with the dims of self: `scatter` and similar.

use nomina_core::op::Op;
use nomina_core::rule::{self, DimRef};
use nomina_core::{Error, ErrorKind, Names, Result};
use nomina_macros::forms;

use super::{ScatterOptions, ScatterReduce, ScatterReduceOptions};
use crate::call;
use crate::call::Target;
use crate::job::Update;
use crate::raw::Raw;
use crate::tensor::{DynTensor, Operand, about};

/// A call of `scatter` or a similar operator.
#[derive(Clone, Copy)]
struct Scatter<'a> {
    op: Op,
    dim: usize,
    index: &'a DynTensor,
    src: Operand<'a>,
    how: AlongUpdate,
}

/// The operation at each position.
#[derive(Clone, Copy)]
enum AlongUpdate {
    Write(Update),
    Reduce(ScatterReduce, bool),
}

impl Scatter<'_> {
    /// Returns the names of self afterwards, or of the result.
    fn names(&self, own: &DynTensor) -> Result<Names> {
        let name = self.op.name();
        let fail = |e| about(e, &self.all(own));
        let names = rule::index_along(name, &own.names, &self.index.names).map_err(fail)?;
        match self.src.tensor().filter(|src| !self.is_number(src)) {
            Some(src) => rule::index_along(name, &names, &src.names).map_err(fail),
            None => Ok(names),
        }
    }

    fn all<'b>(&'b self, own: &'b DynTensor) -> Vec<&'b DynTensor> {
        let mut all = vec![own, self.index];
        all.extend(self.src.tensor());
        all
    }

    /// Returns whether the source is a number: a zero-dim tensor, unless the index also has no
    /// dims.
    fn is_number(&self, src: &DynTensor) -> bool {
        src.rank() == 0 && self.index.rank() > 0
    }

    /// Returns the values, with the rank of the index.
    fn values(&self, own: &DynTensor) -> Result<Raw> {
        match self.src {
            Operand::Tensor(src) if !self.is_number(src) => Ok(src.raw.clone()),
            value => {
                let value = own.as_own(self.op, value)?;
                value
                    .to_raw(own.dtype(), own.device())?
                    .expand(self.index.shape())
            }
        }
    }

    fn write(&self, own: &mut Raw, values: &Raw) -> Result<()> {
        let at = Target {
            dim: self.dim,
            index: &self.index.raw,
            slices: false,
        };
        match self.how {
            AlongUpdate::Write(how) => at.write(self.op, own.as_mut()?, values, how),
            AlongUpdate::Reduce(reduce, with) => {
                call::reduced(self.op, own, at, values, reduce, with)
            }
        }
    }

    fn in_place(&self, own: &mut DynTensor) -> Result<()> {
        let names = self.names(own)?;
        let values = self.values(own).map_err(|e| about(e, &self.all(own)))?;
        let others: Vec<&DynTensor> = [self.index].into_iter().chain(self.src.tensor()).collect();
        own.write_as(self.op, &names, &others, |raw| self.write(raw, &values))
    }

    fn new_tensor(&self, own: &DynTensor) -> Result<DynTensor> {
        let mut result = own.copy_as(self.names(own)?)?;
        self.in_place(&mut result)?;
        Ok(result)
    }
}

fn how(reduce: Option<ScatterReduce>) -> Result<AlongUpdate> {
    match reduce {
        None => Ok(AlongUpdate::Write(Update::Set)),
        Some(ScatterReduce::Sum) => Ok(AlongUpdate::Write(Update::Add)),
        Some(ScatterReduce::Prod) => Ok(AlongUpdate::Write(Update::Mul)),
        Some(other) => {
            let what = format!("scatter does not reduce by {other:?}");
            Err(Error::new(ErrorKind::Argument, "scatter", what).hint("use `scatter_reduce`"))
        }
    }
}

impl DynTensor {
    fn to_scatter<'a>(
        &self,
        op: Op,
        dim: DimRef<'_>,
        index: &'a Self,
        src: Operand<'a>,
        how: AlongUpdate,
    ) -> Result<Scatter<'a>> {
        Ok(Scatter {
            op,
            dim: self.dim_at(op, dim)?,
            index,
            src,
            how,
        })
    }

    /// Returns a copy of `self` with values, a tensor or one number, written at the positions that
    /// [`DynTensor::gather`] would read. If several values have the same position, the last one
    /// stays. Names unify.
    ///
    /// # Errors
    /// Like [`DynTensor::gather`]; [`ErrorKind::DType`] if values have another dtype than `self`,
    /// [`ErrorKind::Shape`] if there are fewer values than indices.
    #[forms(with = "but with options.", out)]
    pub fn scatter_with<'a, 'b>(
        &self,
        dim: impl Into<DimRef<'a>>,
        index: &Self,
        src: impl Into<Operand<'b>>,
        options: ScatterOptions,
    ) -> Result<Self> {
        let (src, how) = (src.into(), how(options.reduce)?);
        self.to_scatter(Op::Scatter, dim.into(), index, src, how)?
            .new_tensor(self)
    }

    /// Like [`DynTensor::scatter`], but in place.
    ///
    /// # Errors
    /// Like [`DynTensor::scatter`]. Nothing is changed in that case.
    #[forms(with = "but with options.")]
    pub fn scatter_with_<'a, 'b>(
        &mut self,
        dim: impl Into<DimRef<'a>>,
        index: &Self,
        src: impl Into<Operand<'b>>,
        options: ScatterOptions,
    ) -> Result<&mut Self> {
        let (src, how) = (src.into(), how(options.reduce)?);
        self.to_scatter(Op::Scatter, dim.into(), index, src, how)?
            .in_place(self)?;
        Ok(self)
    }

    /// Returns a copy of `self` with values added at the positions that [`DynTensor::gather`] would
    /// read, always in the order of the index, so that the result does not depend on the number of
    /// threads.
    ///
    /// # Errors
    /// Like [`DynTensor::scatter`].
    #[forms(out)]
    pub fn scatter_add<'a>(
        &self,
        dim: impl Into<DimRef<'a>>,
        index: &Self,
        src: &Self,
    ) -> Result<Self> {
        let how = AlongUpdate::Write(Update::Add);
        self.to_scatter(Op::ScatterAdd, dim.into(), index, src.into(), how)?
            .new_tensor(self)
    }

    /// Like [`DynTensor::scatter_add`], but in place.
    ///
    /// # Errors
    /// Like [`DynTensor::scatter_add`]. Nothing is changed in that case.
    pub fn scatter_add_<'a>(
        &mut self,
        dim: impl Into<DimRef<'a>>,
        index: &Self,
        src: &Self,
    ) -> Result<&mut Self> {
        let how = AlongUpdate::Write(Update::Add);
        self.to_scatter(Op::ScatterAdd, dim.into(), index, src.into(), how)?
            .in_place(self)?;
        Ok(self)
    }

    /// Returns a copy of `self` with values reduced into the positions that [`DynTensor::gather`]
    /// would read.
    ///
    /// # Errors
    /// Like [`DynTensor::scatter`].
    #[forms(with = "but with options.", out)]
    pub fn scatter_reduce_with<'a>(
        &self,
        dim: impl Into<DimRef<'a>>,
        index: &Self,
        src: &Self,
        reduce: ScatterReduce,
        options: ScatterReduceOptions,
    ) -> Result<Self> {
        let how = AlongUpdate::Reduce(reduce, options.include_self);
        self.to_scatter(Op::ScatterReduce, dim.into(), index, src.into(), how)?
            .new_tensor(self)
    }

    /// Like [`DynTensor::scatter_reduce`], but in place.
    ///
    /// # Errors
    /// Like [`DynTensor::scatter`]. Nothing is changed in that case.
    #[forms(with = "but with options.")]
    pub fn scatter_reduce_with_<'a>(
        &mut self,
        dim: impl Into<DimRef<'a>>,
        index: &Self,
        src: &Self,
        reduce: ScatterReduce,
        options: ScatterReduceOptions,
    ) -> Result<&mut Self> {
        let how = AlongUpdate::Reduce(reduce, options.include_self);
        self.to_scatter(Op::ScatterReduce, dim.into(), index, src.into(), how)?
            .in_place(self)?;
        Ok(self)
    }
}
