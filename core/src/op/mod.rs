//! The operator table: one row per operator, and all that follows from it.
//!
//! A [`Row`] says how PyTorch spells the operator, what it takes, how names and dtypes go through
//! it, which forms exist, which kernel class computes it, how it is differentiated and what it is
//! for. [`Op`] is generated from the rows; so are the methods of `DynTensor` and `Tensor` for the
//! simple classes, their CPU loops and `docs/operators.md`.
//!
//! ```
//! use nomina_core::op::{Class, NameRule, Op};
//! let row = Op::from_name("exp").unwrap().row();
//! assert_eq!(row.rule, NameRule::Keeps);
//! assert_eq!(row.class, Class::Unary("exp(x)"));
//! ```

mod dtype_rule;
mod generated;
mod grad;
mod row;
mod signature;
mod table;

pub use dtype_rule::{DTypeRule, DTypes, Resolved};
pub use generated::{Op, class};
pub use grad::Grad;
pub use row::{Class, Edges, Forms, NameRule, Row, Samples, Spread, Status};
pub use signature::{Param, ParamKind, Signature};

impl Op {
    /// The operator's row.
    #[must_use]
    #[inline]
    pub fn row(self) -> &'static Row {
        table::row(self)
    }

    /// The operator's name, as PyTorch spells its function: `add`, not `add_`.
    #[must_use]
    #[inline]
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The operator that PyTorch spells `name`, or that has `name` as an alias.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|op| {
            let row = op.row();
            row.status != Status::Part && (row.name == name || row.aliases.contains(&name))
        })
    }
}

/// The families of rows, by the name of their file, in the order of [`Op::ALL`].
pub fn families() -> impl Iterator<Item = (&'static str, &'static [Row])> {
    table::families().copied()
}

/// All rows, in the order of [`Op::ALL`].
pub fn rows() -> impl Iterator<Item = &'static Row> {
    table::rows()
}
