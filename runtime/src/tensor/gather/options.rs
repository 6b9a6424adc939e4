//! Optional arguments of operators with indices.

use nomina_core::Scalar;

pub use crate::call::ScatterReduce;

/// Options of `scatter_with`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScatterOptions {
    /// The operation on the present elements: replacing, or [`Sum`](ScatterReduce::Sum) or
    /// [`Prod`](ScatterReduce::Prod) with them; for other reductions, see `scatter_reduce`.
    pub reduce: Option<ScatterReduce>,
}

/// Options of `scatter_reduce_with` and `index_reduce_with`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScatterReduceOptions {
    /// Whether the present elements take part.
    pub include_self: bool,
}

impl Default for ScatterReduceOptions {
    fn default() -> Self {
        Self { include_self: true }
    }
}

/// Options of `index_add_with`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IndexAddOptions {
    /// The factor of the source.
    pub alpha: Scalar,
}

impl Default for IndexAddOptions {
    fn default() -> Self {
        Self {
            alpha: Scalar::Int(1),
        }
    }
}

/// Options of `index_put_with` and `put_with`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexPutOptions {
    /// Whether values are added to the present elements, instead of replacing them.
    pub accumulate: bool,
}

/// Options of `embedding_with`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EmbeddingOptions {
    /// The index of a row that gets no gradient; a negative index counts from the end.
    pub padding_idx: Option<i64>,
}
