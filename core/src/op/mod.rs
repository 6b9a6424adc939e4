//! The operator table: one row per operator, from which code and docs are generated.
//!
//! A [`Row`] gives an operator's spelling in PyTorch, its parameters, its rules for names and
//! dtypes, its forms, its kernel class, its derivative and its documentation. Generated from the
//! rows are [`Op`], the methods of `DynTensor` and `Tensor` for the simple classes, their CPU loops
//! and `docs/operators.md`.
//!
//! ```
//! use nomina_core::op::{Class, NameRule, Op};
//! let row = Op::from_name("exp").unwrap().row();
//! assert_eq!(row.rule, NameRule::Keeps);
//! assert_eq!(row.class, Class::Unary("exp(x)"));
//! ```

mod dtype_rule;
mod function;
mod generated;
mod grad;
mod kernel_class;
mod row;
mod signature;
mod table;

pub use dtype_rule::{DTypeRule, DTypes, Resolved};
pub use function::{Function, Vector};
pub use generated::{Op, class};
pub use grad::Grad;
pub use kernel_class::Class;
pub use row::{Edges, Forms, NameRule, Row, Samples, Spread, Status, derivatives};
pub use signature::{Param, ParamKind, Signature};

impl Op {
    /// Returns the operator's row.
    #[must_use]
    #[inline]
    pub fn row(self) -> &'static Row {
        table::row(self)
    }

    /// Returns the operator's name, as PyTorch spells its function: `add`, not `add_`.
    #[must_use]
    #[inline]
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Returns the operator with PyTorch's spelling `name`, or with `name` as an alias.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|op| {
            let row = op.row();
            row.status != Status::Part && (row.name == name || row.aliases.contains(&name))
        })
    }
}

/// Returns the families of rows, each with the name of its file, in the order of [`Op::ALL`].
pub fn families() -> impl Iterator<Item = (&'static str, &'static [Row])> {
    table::families().copied()
}

/// Returns all rows, in the order of [`Op::ALL`].
pub fn rows() -> impl Iterator<Item = &'static Row> {
    table::rows()
}
