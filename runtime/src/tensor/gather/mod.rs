//! Indexing: by index tensors, by masks, by name.

mod along;
mod at;
mod many;
mod options;
mod place;
mod select;
mod slices;

pub use at::{Index, IndexRange};
pub use options::{
    EmbeddingOptions, IndexAddOptions, IndexPutOptions, ScatterOptions, ScatterReduce,
    ScatterReduceOptions,
};
#[doc(hidden)]
pub use place::unlike_part;

use nomina_core::op::Op;
use nomina_core::rule::{self, DimRef};
use nomina_core::{Names, Result};

use super::{DynTensor, about};
use crate::raw::Raw;

impl DynTensor {
    /// Returns the position of a dim of self.
    fn dim_at(&self, op: Op, dim: DimRef<'_>) -> Result<usize> {
        dim.position(op.name(), &self.names)
            .map_err(|e| about(e, &[self]))
    }

    /// Writes into self and sets its names to `computed`. Changes nothing on an error.
    fn write_as(
        &mut self,
        op: Op,
        computed: &Names,
        others: &[&Self],
        write: impl FnOnce(&mut Raw) -> Result<()>,
    ) -> Result<()> {
        let mut all: Vec<&Self> = vec![self];
        all.extend_from_slice(others);
        let names = rule::in_place(op.name(), &self.names, computed).map_err(|e| about(e, &all))?;
        match write(&mut self.raw) {
            Ok(()) => {
                self.names = names;
                Ok(())
            }
            Err(error) => {
                let mut all: Vec<&Self> = vec![self];
                all.extend_from_slice(others);
                Err(about(error, &all))
            }
        }
    }

    /// Returns a copy of self with the names of a result, to write the result into.
    fn copy_as(&self, names: Names) -> Result<Self> {
        Ok(Self::new(self.raw.aliased()?, names))
    }
}
