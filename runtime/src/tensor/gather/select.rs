//! Reading at index tensors.

use nomina_core::op::Op;
use nomina_core::rule::{self, DimRef};
use nomina_core::{Error, ErrorKind, Names, Result, Scalar};
use nomina_macros::forms;

use crate::call;
use crate::tensor::{DynTensor, about};

use super::EmbeddingOptions;

impl DynTensor {
    /// Returns the slices at the indices of a dim. The dims of the index replace the dim; an index with one unnamed dim
    /// leaves the dim its name.
    ///
    /// ```
    /// # use nomina_runtime::DynTensor;
    /// let x = DynTensor::from_vec(vec![1.0f32, 2.0, 3.0], &[3], ["C"])?;
    /// let ids = DynTensor::from_vec(vec![2i64, 0, -1], &[3], ["K"])?;
    /// let picked = x.index_select("C", &ids)?;
    /// assert_eq!(picked.names().to_string(), "(K,)");
    /// assert_eq!(picked.to_vec::<f32>()?, [3.0, 1.0, 3.0]);
    /// # Ok::<(), nomina_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Index`](nomina_core::ErrorKind::Index) for an index that is out of range,
    /// [`DType`](nomina_core::ErrorKind::DType) if indices are neither i64 nor i32,
    /// [`DuplicateNames`](nomina_core::ErrorKind::DuplicateNames) if the index has a name of another dim.
    #[forms(out)]
    pub fn index_select<'a>(&self, dim: impl Into<DimRef<'a>>, index: &Self) -> Result<Self> {
        let fail = |e| about(e, &[self, index]);
        let op = Op::IndexSelect;
        let dim = self.dim_at(op, dim.into())?;
        let names = rule::index_select(op.name(), &self.names, dim, &index.names).map_err(fail)?;
        let by = match index.rank() {
            0 => index.raw.unsqueeze(0)?,
            _ => index.raw.clone(),
        };
        let raw = call::index_select(op, &self.raw, dim, &by).map_err(fail)?;
        Ok(Self::new(raw, names))
    }

    /// Returns for each element of the index the element of `self` at the same position, with the index as the position
    /// along `dim`. Names unify.
    ///
    /// # Errors
    /// Like [`DynTensor::index_select`]; also [`Rank`](nomina_core::ErrorKind::Rank) if the index has another number of
    /// dims, [`Shape`](nomina_core::ErrorKind::Shape) if it is larger in another dim.
    #[forms(out)]
    pub fn gather<'a>(&self, dim: impl Into<DimRef<'a>>, index: &Self) -> Result<Self> {
        self.gathered(Op::Gather, dim.into(), index)
    }

    fn gathered(&self, op: Op, dim: DimRef<'_>, index: &Self) -> Result<Self> {
        let fail = |e| about(e, &[self, index]);
        let dim = self.dim_at(op, dim)?;
        let names = rule::index_along(op.name(), &self.names, &index.names).map_err(fail)?;
        let raw = call::gather(op, &self.raw, dim, &index.raw).map_err(fail)?;
        Ok(Self::new(raw, names))
    }

    /// Like [`DynTensor::gather`], but broadcasts the other dims; without a dim, in row-major order.
    ///
    /// # Errors
    /// Like [`DynTensor::gather`], but the sizes of the other dims need only broadcast.
    #[forms(out)]
    pub fn take_along_dim<'a>(
        &self,
        indices: &Self,
        dim: impl Into<Option<DimRef<'a>>>,
    ) -> Result<Self> {
        let op = Op::TakeAlongDim;
        let fail = |e| about(e, &[self, indices]);
        let Some(dim) = dim.into() else {
            let raw = call::take(&self.raw, &indices.raw.reshape(&[indices.numel()])?)
                .map_err(|e| fail(e.in_op(op.name())))?;
            return Ok(Self::new(raw, Names::unnamed(1)));
        };
        let at = self.dim_at(op, dim)?;
        let names = rule::index_along(op.name(), &self.names, &indices.names).map_err(fail)?;
        // The dim itself does not broadcast: for the others, its size is 1 in both.
        let mut shapes = [
            crate::shape::Shape::from_slice(self.shape()),
            crate::shape::Shape::from_slice(indices.shape()),
        ];
        shapes.iter_mut().for_each(|shape| shape[at] = 1);
        let mut wide = crate::shape::broadcast(op.name(), &[&shapes[0], &shapes[1]])
            .map_err(|e| fail(e.on_operands([self.shape(), indices.shape()])))?;
        wide[at] = self.shape()[at];
        let own = self.raw.broadcast_to(op.name(), &wide)?;
        wide[at] = indices.shape()[at];
        let by = indices.raw.broadcast_to(op.name(), &wide)?;
        let raw = call::gather(op, &own, at, &by).map_err(fail)?;
        Ok(Self::new(raw, names))
    }

    /// Returns the elements at row-major positions; the result has the dims of the index.
    ///
    /// # Errors
    /// Like [`DynTensor::index_select`].
    #[forms(out)]
    pub fn take(&self, index: &Self) -> Result<Self> {
        let raw = call::take(&self.raw, &index.raw).map_err(|e| about(e, &[self, index]))?;
        Ok(Self::new(raw, index.names.clone()))
    }

    /// Looks up rows of `self`, a weight with a row for each index of `dim`. The result has the dims of `ids`, then
    /// those of a row.
    ///
    /// ```
    /// # use nomina_runtime::DynTensor;
    /// let weight = DynTensor::from_vec(vec![1.0f32, 2.0, 3.0, 4.0], &[2, 2], ["V", "E"])?;
    /// let ids = DynTensor::from_vec(vec![1i64, 0, 1], &[3], ["T"])?;
    /// assert_eq!(weight.embedding("V", &ids)?.names().to_string(), "(T, E)");
    /// # Ok::<(), nomina_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`DynTensor::index_select`], and [`Index`](nomina_core::ErrorKind::Index) for a negative id.
    pub fn embedding<'a>(&self, dim: impl Into<DimRef<'a>>, ids: &Self) -> Result<Self> {
        let op = Op::Embedding;
        let fail = |e| about(e, &[self, ids]);
        let dim = self.dim_at(op, dim.into())?;
        let order: rule::Positions = std::iter::once(dim)
            .chain((0..self.rank()).filter(|&i| i != dim))
            .collect();
        let first = rule::kept(&self.names, &order);
        let names = rule::index_by(op.name(), &first, 0, &ids.names).map_err(fail)?;
        let rows = self.raw.permute(&order)?;
        let raw = call::index_select(op, &rows, 0, &ids.raw).map_err(fail)?;
        Ok(Self::new(raw, names))
    }

    /// Like [`DynTensor::embedding`], but one row gets no gradient.
    ///
    /// ```
    /// # use nomina_runtime::DynTensor;
    /// # use nomina_runtime::tensor::EmbeddingOptions;
    /// let weight = DynTensor::ones(&[3, 2], ["V", "C"])?.with_grad()?;
    /// let ids = DynTensor::from_vec(vec![0i64, 2], &[2], ["N"])?;
    /// let options = EmbeddingOptions { padding_idx: Some(0) };
    /// weight.embedding_with("V", &ids, options)?.sum(..)?.backward()?;
    /// let grad = weight.grad().expect("a gradient");
    /// assert_eq!(grad.to_vec::<f32>()?, [0.0, 0.0, 0.0, 0.0, 1.0, 1.0]);
    /// # Ok::<(), nomina_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// Like [`DynTensor::embedding`]; also [`Index`](nomina_core::ErrorKind::Index) if the row does not exist.
    pub fn embedding_with<'a>(
        &self,
        dim: impl Into<DimRef<'a>>,
        ids: &Self,
        options: EmbeddingOptions,
    ) -> Result<Self> {
        let op = Op::Embedding;
        let fail = |e| about(e, &[self, ids]);
        let dim = self.dim_at(op, dim.into())?;
        let found = self.embedding(dim as i64, ids)?;
        let Some(row) = options.padding_idx else {
            return Ok(found);
        };
        let size = self.shape()[dim] as i64;
        if !(-size..size).contains(&row) {
            let what = format!("no row {row} among {size}");
            let error = Error::new(ErrorKind::Index, op.name(), what);
            return Err(fail(error).hint("give one of the weight's rows"));
        }
        let padding = Scalar::Int(if row < 0 { row + size } else { row });
        let mut padded = call::pointwise(Op::Eq, &[(&ids.raw).into(), padding.into()])?;
        for _ in 1..self.rank() {
            padded = padded.unsqueeze(padded.rank())?;
        }
        let (raw, names) = found.into_parts();
        let plain = raw.clone().detach();
        let operands = [(&padded).into(), (&plain).into(), (&raw).into()];
        let raw = call::pointwise(Op::Where, &operands).map_err(fail)?;
        Ok(Self::new(raw, names))
    }

    /// Returns a row of i64 for each index, one at the index and zero elsewhere, along a new last dim. The number of
    /// classes is by default the greatest index plus one.
    ///
    /// # Errors
    /// [`Index`](nomina_core::ErrorKind::Index) for an index that is not a class,
    /// [`DType`](nomina_core::ErrorKind::DType) if indices are not integers,
    /// [`DuplicateNames`](nomina_core::ErrorKind::DuplicateNames) if `self` has a dim `name`.
    pub fn one_hot<'b>(
        &self,
        num_classes: impl Into<Option<usize>>,
        name: impl Into<Option<&'b str>>,
    ) -> Result<Self> {
        let fail = |e: Error| about(e.in_op("one_hot"), &[self]);
        let (_, names) = rule::unsqueeze("one_hot", &self.names, -1, name.into()).map_err(fail)?;
        let classes = match num_classes.into() {
            Some(classes) => classes,
            None if !self.dtype().is_integral() => 0,
            None => call::classes(&self.raw).map_err(fail)?,
        };
        Ok(Self::new(
            call::one_hot(&self.raw, classes).map_err(fail)?,
            names,
        ))
    }

    /// Converts row-major positions to one index per dim of a shape.
    ///
    /// # Errors
    /// [`Index`](nomina_core::ErrorKind::Index) for a position outside of the shape,
    /// [`DType`](nomina_core::ErrorKind::DType) if positions are not integers.
    pub fn unravel_index(&self, shape: &[usize]) -> Result<Vec<Self>> {
        let found = call::unravel(&self.raw, shape).map_err(|e| about(e, &[self]))?;
        let each = found.into_iter();
        Ok(each.map(|raw| Self::new(raw, self.names.clone())).collect())
    }

    /// Returns the indices of the elements that differ from zero, a row each, without names.
    ///
    /// # Errors
    /// If memory runs out.
    #[forms(out)]
    pub fn nonzero(&self) -> Result<Self> {
        let raw = call::nonzero(Op::Nonzero, &self.raw).map_err(|e| about(e, &[self]))?;
        Ok(Self::new(raw, Names::unnamed(2)))
    }

    /// Like [`DynTensor::nonzero`], under its other name.
    ///
    /// # Errors
    /// Like [`DynTensor::nonzero`].
    pub fn argwhere(&self) -> Result<Self> {
        let raw = call::nonzero(Op::Argwhere, &self.raw).map_err(|e| about(e, &[self]))?;
        Ok(Self::new(raw, Names::unnamed(2)))
    }
}
