//! Optional arguments of operators with indices.

use nomina_core::Scalar;

pub use crate::call::ScatterReduce;

/// Options of `scatter_with`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScatterOptions {
    /// What happens to what is there: replaced, or [`Sum`](ScatterReduce::Sum) or
    /// [`Prod`](ScatterReduce::Prod) with it; another reduction is `scatter_reduce`'s.
    pub reduce: Option<ScatterReduce>,
}

/// Options of `scatter_reduce_with` and `index_reduce_with`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScatterReduceOptions {
    /// Whether what is there takes part.
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
    /// What the source is multiplied by.
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
    /// Whether values are added to what is there, instead of replacing it.
    pub accumulate: bool,
}

/// Options of `embedding_with`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EmbeddingOptions {
    /// The index of a row that gets no gradient; negative ones count from the end.
    pub padding_idx: Option<i64>,
}
