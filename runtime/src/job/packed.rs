//! Left operands of products in the order in which tiles read them.

use std::sync::OnceLock;

use crate::memory::Block;

/// A left operand shared by several products, possibly packed.
#[derive(Debug)]
pub(crate) struct Packed {
    /// The whole packed operand; if absent, each product packs the rows it needs.
    pub block: Option<Block>,
    /// The order in which products read it.
    pub order: PackOrder,
}

/// How a left operand is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PackOrder {
    /// In rows of tiles, for `Packed::lowered` and `Packed::multiply`.
    Rows,
    /// In panels, like a right operand, for `Packed::indirect`.
    Panels,
    /// Transformed by `conv::winograd`: matrices in rows, 16 for each group.
    Transformed,
}

/// The weight of each group of a convolution, packed by the first call in the order in which it reads the weight.
#[derive(Debug, Default)]
pub(crate) struct KeptWeight(pub OnceLock<Vec<Packed>>);
