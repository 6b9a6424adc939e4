//! Replacing a part of a tensor: `select_scatter` and similar.

use nomina_core::op::Op;
use nomina_core::rule::{self, DimRef};
use nomina_core::{Error, ErrorKind, Names, Result};

use super::at::DimRange;
use crate::call;
use crate::raw::RawMut;
use crate::tensor::{DynTensor, about};

impl DynTensor {
    /// Returns a copy of self with `src` in a part whose names are `names`; `place` maps a dim of
    /// the part to its position in self.
    fn with_part(
        &self,
        op: Op,
        src: &Self,
        names: &Names,
        place: impl Fn(usize) -> Option<usize>,
        part: impl for<'a> FnOnce(RawMut<'a>) -> Result<RawMut<'a>>,
    ) -> Result<Self> {
        let fail = |e: Error| about(e.in_op(op.name()), &[self, src]);
        rule::unify(op.name(), names, &src.names).map_err(fail)?;
        let mut raw = call::duplicate(&self.raw).map_err(fail)?;
        let part = raw.as_mut().and_then(part).map_err(fail)?;
        if part.shape() != src.shape() {
            let error = unlike_part(op, self.shape(), part.shape(), src.shape(), place);
            return Err(fail(error));
        }
        call::copy_into(part, &src.raw).map_err(fail)?;
        Ok(Self::new(raw, self.names.clone()))
    }

    /// Returns a copy of `self` with `src` in place of `self.select(dim, index)`.
    ///
    /// # Errors
    /// Like [`DynTensor::select`]; also if `src` has other names or sizes than the slice.
    pub fn select_scatter<'a>(
        &self,
        src: &Self,
        dim: impl Into<DimRef<'a>>,
        index: i64,
    ) -> Result<Self> {
        let op = Op::SelectScatter;
        let dim = self.dim_at(op, dim.into())?;
        let at = rule::index_in(op.name(), &self.names, self.shape(), dim, index)?;
        let names = rule::remove(&self.names, &[dim]);
        let place = |i| Some(i + usize::from(i >= dim));
        self.with_part(op, src, &names, place, |raw| raw.select(dim, at))
    }

    /// Returns a copy of `self` with `src` in place of a range of a dim, of every `step`-th index.
    /// Like in PyTorch, the end defaults to that of the dim, and both are clipped to the dim.
    ///
    /// # Errors
    /// If the dim does not exist, `step` is less than 1, or `src` has other names or sizes than the
    /// range.
    pub fn slice_scatter<'a>(
        &self,
        src: &Self,
        dim: impl Into<DimRef<'a>>,
        start: Option<i64>,
        end: Option<i64>,
        step: i64,
    ) -> Result<Self> {
        let op = Op::SliceScatter;
        let dim = self.dim_at(op, dim.into())?;
        let span = DimRange::cut(self.shape()[dim], start, end, step)
            .map_err(|e| about(e.in_op(op.name()).at(0, dim), &[self]))?;
        self.with_part(op, src, &self.names, Some, |raw| {
            raw.slice(dim, span.start, span.len, span.step)
        })
    }

    /// Returns a copy of `self` with `src` in place of the diagonal of two dims, `offset` above, or
    /// below if negative, the main diagonal.
    ///
    /// # Errors
    /// If a dim does not exist, both are the same, or `src` has other names or sizes than the
    /// diagonal.
    pub fn diagonal_scatter<'a, 'b>(
        &self,
        src: &Self,
        offset: i64,
        dim1: impl Into<DimRef<'a>>,
        dim2: impl Into<DimRef<'b>>,
    ) -> Result<Self> {
        let op = Op::DiagonalScatter;
        let plan = rule::diagonal(op.name(), &self.names, dim1.into(), dim2.into(), None)
            .map_err(|e| about(e, &[self]))?;
        let offset = isize::try_from(offset).unwrap_or(isize::MAX);
        let kept: Vec<usize> = (0..self.rank())
            .filter(|dim| ![plan.dim1, plan.dim2].contains(dim))
            .collect();
        let place = |i: usize| kept.get(i).copied();
        self.with_part(op, src, &plan.names, place, |raw| {
            raw.diagonal(plan.dim1, plan.dim2, offset)
        })
    }
}

/// Refuses values of other sizes than the part they are for; `place` maps a dim of the part to its
/// position in the whole.
pub fn unlike_part(
    op: Op,
    whole: &[usize],
    part: &[usize],
    src: &[usize],
    place: impl Fn(usize) -> Option<usize>,
) -> Error {
    const HINT: &str = "give values of the part's sizes";
    let apart = part.iter().zip(src).position(|(own, its)| own != its);
    let apart = apart.filter(|_| part.len() == src.len());
    // The dim that the part is a range of has another size in the whole tensor.
    let same = |&(at, i): &(usize, usize)| whole.get(at) == part.get(i);
    match apart.and_then(|i| Some((place(i)?, i))).filter(same) {
        Some((at, i)) => Error::sizes(op.name(), [whole, src], [(0, at), (1, i)]).hint(HINT),
        None => {
            let none = Names::default();
            Error::new(
                ErrorKind::Shape,
                op.name(),
                format!("values of sizes {src:?} for {part:?}"),
            )
            .operand(&none, whole)
            .operand(&none, src)
            .hint(HINT)
        }
    }
}
