//! Operators that copy elements to other positions.

use nomina_core::rule::{self, DimRef};
use nomina_core::{DType, Error, ErrorKind, Names, Result};
use nomina_macros::forms;

use super::{DynTensor, about};
use crate::call;
use crate::memory::{list, try_list};

/// The names and sizes of each tensor.
fn named_shapes<'a>(
    op: &'static str,
    tensors: &[&'a DynTensor],
) -> Result<Vec<(&'a Names, &'a [usize])>> {
    try_list(op, tensors.iter().map(|x| Ok((&x.names, x.shape()))))
}

impl DynTensor {
    /// Joins tensors along an existing dim; names unify, dtypes promote.
    ///
    /// # Errors
    /// If there is no tensor, ranks or sizes differ, names do not unify, or the dim does not exist.
    #[forms(out)]
    pub fn cat<'a>(tensors: &[&Self], dim: impl Into<DimRef<'a>>) -> Result<Self> {
        let fail = |e| about(e, tensors);
        let operands = named_shapes("cat", tensors)?;
        let plan = rule::cat("cat", &operands, dim.into()).map_err(fail)?;
        let mut raws = list("cat", [tensors.len()])?;
        raws.extend(
            tensors
                .iter()
                .filter(|x| x.rank() == plan.shape.len())
                .map(|x| &x.raw),
        );
        Ok(Self::new(
            call::cat(&raws, plan.dim).map_err(fail)?,
            plan.names,
        ))
    }

    /// Joins tensors along a new dim at position `dim`, with or without a name.
    ///
    /// # Errors
    /// If there is no tensor, sizes differ, names do not unify, or `dim` is out of range.
    #[forms(out)]
    pub fn stack<'b>(
        tensors: &[&Self],
        dim: i64,
        name: impl Into<Option<&'b str>>,
    ) -> Result<Self> {
        let fail = |e| about(e, tensors);
        let operands = named_shapes("stack", tensors)?;
        let plan = rule::stack("stack", &operands, dim, name.into()).map_err(fail)?;
        let raws = try_list("stack", tensors.iter().map(|x| Ok(&x.raw)))?;
        let raw = call::stack(&raws, plan.dim).map_err(fail)?;
        Ok(Self::new(raw, plan.names))
    }

    /// Returns the elements where `mask` is true in row-major order, in one unnamed dim; both
    /// broadcast.
    ///
    /// # Errors
    /// If the mask is not bool, names do not unify or sizes do not broadcast.
    #[forms(out)]
    pub fn masked_select(&self, mask: &Self) -> Result<Self> {
        let fail = |e| about(e, &[self, mask]);
        let names = rule::masked_select("masked_select", &self.names, &mask.names).map_err(fail)?;
        if mask.dtype() != DType::Bool {
            let what = format!("the mask is {}, not bool", mask.dtype());
            return Err(fail(Error::new(ErrorKind::DType, "masked_select", what))
                .hint("compare it first, as in `mask.ne(0)`"));
        }
        Ok(Self::new(
            call::masked_select(&self.raw, &mask.raw).map_err(fail)?,
            names,
        ))
    }

    /// Returns whether names, sizes and elements are equal.
    ///
    /// # Errors
    /// If the dtypes or devices differ.
    pub fn equal(&self, other: &Self) -> Result<bool> {
        call::same_device("equal", &[&self.raw, &other.raw])
            .map_err(|e| about(e, &[self, other]))?;
        if !rule::equal_names(&self.names, &other.names) || self.shape() != other.shape() {
            return Ok(false);
        }
        call::equal(&self.raw, &other.raw).map_err(|e| about(e, &[self, other]))
    }
}
