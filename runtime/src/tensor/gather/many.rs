//! Several index tensors at once, and row-major positions.

use nomina_core::op::Op;
use nomina_core::{DType, Error, ErrorKind, Names, Result, rule};
use nomina_macros::forms;

use super::IndexPutOptions;
use crate::call;
use crate::job::Update;
use crate::raw::Raw;
use crate::tensor::{DynTensor, about};

/// The indices of some dims, with masks converted to numbers.
struct Given {
    dims: rule::Positions,
    indices: Vec<Raw>,
    /// The unified names of the indices.
    names: Names,
}

impl Given {
    fn indices(&self) -> Vec<&Raw> {
        self.indices.iter().collect()
    }
}

impl DynTensor {
    /// Reads `indices`, one or none for each of the first dims.
    fn read_indices(&self, op: Op, indices: &[Option<&Self>]) -> Result<Given> {
        let fail = |e| about(e, &[self]);
        let mut given = Given {
            dims: rule::Positions::new(),
            indices: Vec::new(),
            names: Names::default(),
        };
        let mut dim = 0;
        let mut tensors: Vec<&Self> = Vec::new();
        for index in indices {
            let covered = match index {
                Some(index) if index.dtype() == DType::Bool => index.rank(),
                _ => 1,
            };
            if dim + covered > self.rank() {
                let what = format!("too many indices for {} dims", self.rank());
                return Err(fail(
                    Error::new(ErrorKind::Index, op.name(), what)
                        .hint("give one index for each dim at most"),
                ));
            }
            if let Some(index) = index {
                let names = if index.dtype() == DType::Bool {
                    self.masked(op, dim, index, &mut given.indices)?;
                    Names::unnamed(1)
                } else {
                    given.indices.push(index.raw.clone());
                    tensors.push(index);
                    index.names.clone()
                };
                given.names =
                    rule::unify(op.name(), &given.names, &names).map_err(|e| about(e, &[index]))?;
                given.dims.extend(dim..dim + covered);
            }
            dim += covered;
        }
        rule::broadcast_all(op.name(), tensors.iter().map(|index| index.shape()))
            .map_err(|e| about(e, &tensors))?;
        Ok(given)
    }

    /// Converts a mask over the dims from `dim` on to indices.
    fn masked(&self, op: Op, dim: usize, mask: &Self, indices: &mut Vec<Raw>) -> Result<()> {
        let fail = |e| about(e, &[self, mask]);
        let dims = dim..dim + mask.rank();
        let own: Names = self.names[dims.clone()].iter().cloned().collect();
        rule::unify(op.name(), &own, &mask.names).map_err(fail)?;
        if self.shape()[dims] != *mask.shape() {
            let what = "the mask has other sizes than the dims it indexes";
            return Err(fail(
                Error::new(ErrorKind::Index, op.name(), what)
                    .hint("a mask has the sizes of the dims from its position on"),
            ));
        }
        if mask.rank() == 0 {
            let what = "a mask without dims indexes none";
            return Err(fail(
                Error::new(ErrorKind::Rank, op.name(), what).hint("`unsqueeze` it, and self too"),
            ));
        }
        indices.extend(call::from_mask(&mask.raw).map_err(fail)?);
        Ok(())
    }

    /// Returns the elements at index tensors, one or none for each of the first dims: PyTorch's
    /// `x[a, :, b]`. The indices broadcast and their names unify. Their dims replace the indexed
    /// dims if these are adjacent, else they come first. A mask represents the indices of the dims
    /// that it covers.
    ///
    /// ```
    /// # use nomina_runtime::DynTensor;
    /// let x = DynTensor::from_vec(vec![1i64, 2, 3, 4], &[2, 2], ["N", "C"])?;
    /// let (rows, columns) = (vec![0i64, 1], vec![1i64, 0]);
    /// let rows = DynTensor::from_vec(rows, &[2], ["K"])?;
    /// let columns = DynTensor::from_vec(columns, &[2], ["K"])?;
    /// let picked = x.index(&[Some(&rows), Some(&columns)])?;
    /// assert_eq!((picked.names().to_string(), picked.to_vec::<i64>()?), ("(K,)".into(), vec![2, 3]));
    /// # Ok::<(), nomina_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// Like [`DynTensor::index_select`]; also if indices do not broadcast or their names do not
    /// unify.
    pub fn index(&self, indices: &[Option<&Self>]) -> Result<Self> {
        let fail = |e| about(e, &[self]);
        let given = self.read_indices(Op::Index, indices)?;
        if given.dims.is_empty() {
            return Ok(self.clone());
        }
        let names =
            rule::index_many("index", &self.names, &given.dims, &given.names).map_err(fail)?;
        let raw = call::index(&self.raw, &given.dims, &given.indices()).map_err(fail)?;
        // A single index without dims removes its dim, like among several.
        if let ([at], 0) = (&given.dims[..], given.names.len()) {
            return Ok(Self::new(raw, rule::remove(&self.names, &[*at])));
        }
        Ok(Self::new(raw, names))
    }

    /// Returns a copy of `self` with values, which broadcast, written at the positions that
    /// [`DynTensor::index`] would read.
    ///
    /// # Errors
    /// Like [`DynTensor::index`]; also if values have another dtype, or names or sizes that do not
    /// match.
    #[forms(with = "but with options.")]
    pub fn index_put_with(
        &self,
        indices: &[Option<&Self>],
        values: &Self,
        options: IndexPutOptions,
    ) -> Result<Self> {
        let mut result = self.copy_as(self.names.clone())?;
        result.index_put_with_(indices, values, options)?;
        Ok(result)
    }

    /// Like [`DynTensor::index_put`], but in place.
    ///
    /// # Errors
    /// Like [`DynTensor::index_put`]. Nothing is changed in that case.
    #[forms(with = "but with options.")]
    pub fn index_put_with_(
        &mut self,
        indices: &[Option<&Self>],
        values: &Self,
        options: IndexPutOptions,
    ) -> Result<&mut Self> {
        let op = Op::IndexPut;
        let given = self.read_indices(op, indices)?;
        let mut read = rule::index_many(op.name(), &self.names, &given.dims, &given.names)
            .map_err(|e| about(e, &[self, values]))?;
        if let ([at], 0) = (&given.dims[..], given.names.len()) {
            read = rule::remove(&self.names, &[*at]);
        }
        rule::unify(op.name(), &read, &values.names).map_err(|e| about(e, &[self, values]))?;
        let names = self.names.clone();
        self.write_as(op, &names, &[values], |raw| {
            let (dest, how) = (raw.as_mut()?, update(options));
            call::index_put(dest, &given.dims, &given.indices(), &values.raw, how)
        })?;
        Ok(self)
    }

    /// Returns a copy of `self` with values written at row-major positions.
    ///
    /// # Errors
    /// Like [`DynTensor::index_select`]; also if values have another dtype, or their number is not
    /// that of the positions.
    #[forms(with = "but with options.")]
    pub fn put_with(&self, index: &Self, source: &Self, options: IndexPutOptions) -> Result<Self> {
        let mut result = self.copy_as(self.names.clone())?;
        result.put_with_(index, source, options)?;
        Ok(result)
    }

    /// Like [`DynTensor::put`], but in place.
    ///
    /// # Errors
    /// Like [`DynTensor::put`]. Nothing is changed in that case.
    #[forms(with = "but with options.")]
    pub fn put_with_(
        &mut self,
        index: &Self,
        source: &Self,
        options: IndexPutOptions,
    ) -> Result<&mut Self> {
        let op = Op::Put;
        let names = self.names.clone();
        self.write_as(op, &names, &[index, source], |raw| {
            call::put(op, raw, &index.raw, &source.raw, update(options))
        })?;
        Ok(self)
    }

    /// Returns a copy of `self` with the values of `source`, in order, where `mask` is true; `self`
    /// and the mask broadcast.
    ///
    /// # Errors
    /// If the mask is not bool, values have another dtype or are too few, names do not unify, or
    /// sizes do not broadcast.
    pub fn masked_scatter(&self, mask: &Self, source: &Self) -> Result<Self> {
        let fail = |e| about(e, &[self, mask]);
        let op = Op::MaskedScatter.name();
        let names = rule::unify(op, &self.names, &mask.names).map_err(fail)?;
        let shape = rule::broadcast_shapes(op, self.shape(), mask.shape()).map_err(fail)?;
        let mut result = Self::new(self.raw.broadcast_to(op, &shape)?, names);
        result.masked_scatter_(mask, source)?;
        Ok(result)
    }

    /// Like [`DynTensor::masked_scatter`], but in place.
    ///
    /// # Errors
    /// Like [`DynTensor::masked_scatter`]; also if the result has other names or sizes than `self`.
    /// Nothing is changed in that case.
    pub fn masked_scatter_(&mut self, mask: &Self, source: &Self) -> Result<&mut Self> {
        let op = Op::MaskedScatter;
        let names = rule::unify(op.name(), &self.names, &mask.names)
            .map_err(|e| about(e, &[self, mask]))?;
        rule::broadcast_into(op.name(), self.shape(), mask.shape())
            .map_err(|e| about(e, &[self, mask]))?;
        self.write_as(op, &names, &[mask, source], |raw| {
            call::masked_scatter(raw, &mask.raw, &source.raw)
        })?;
        Ok(self)
    }
}

fn update(options: IndexPutOptions) -> Update {
    if options.accumulate {
        Update::Add
    } else {
        Update::Set
    }
}
