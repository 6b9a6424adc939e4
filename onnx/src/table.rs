//! The operator table: one row per operator, with the opsets it covers, how dims flow through it, how
//! it runs, and how it is spelled in Rust.
//!
//! Rows are in [`crate::ops`], a file per family.

use nomina::DynTensor;
use nomina_core::Result;

use crate::call::{Call, Value};
use crate::emit::Emit;
use crate::names::flow::Flow;
use crate::ops::FAMILIES;

/// The newest opset of ONNX whose operators the rows know.
pub const NEWEST_OPSET: i64 = 28;

/// The computation of an operator.
#[derive(Clone, Copy)]
pub enum Run {
    /// One input, one output.
    Unary(fn(&DynTensor) -> Result<DynTensor>),
    /// Two inputs, one output.
    Binary(fn(&DynTensor, &DynTensor) -> Result<DynTensor>),
    /// Any inputs and attributes, one output.
    Single(fn(&Call<'_>) -> Result<DynTensor>),
    /// Any inputs and attributes, several tensors.
    Tensors(fn(&Call<'_>) -> Result<Vec<DynTensor>>),
    /// Values that may be sequences, or come from graphs inside.
    Values(fn(&Call<'_>) -> Result<Vec<Value>>),
}

/// An operator.
#[derive(Clone, Copy)]
pub struct Row {
    /// The operator's name in ONNX.
    pub name: &'static str,
    /// The domain; empty for ONNX's own.
    pub domain: &'static str,
    /// The first opset that the row covers.
    pub since: i64,
    /// The last opset that the row covers.
    pub until: i64,
    /// How dims flow from inputs to outputs.
    pub flow: Flow,
    /// How it runs.
    pub run: Run,
    /// How it is spelled in Rust.
    pub emit: Emit,
    /// Whether it may be computed when the model is opened: its result depends on its inputs alone.
    pub foldable: bool,
}

impl std::fmt::Debug for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}..={}", self.name, self.since, self.until)
    }
}

impl Row {
    /// An operator of ONNX's own domain that is there since opset `since`.
    pub const fn new(name: &'static str, since: i64, flow: Flow, run: Run) -> Self {
        Self {
            name,
            domain: "",
            since,
            until: NEWEST_OPSET,
            flow,
            run,
            emit: Emit::Refused,
            foldable: true,
        }
    }

    /// Ends the row at an opset, after which the operator has another meaning.
    pub const fn until(mut self, opset: i64) -> Self {
        self.until = opset;
        self
    }

    /// States how the operator is spelled in Rust.
    pub const fn emit(mut self, emit: Emit) -> Self {
        self.emit = emit;
        self
    }

    /// Moves the row to another domain.
    pub const fn domain(mut self, domain: &'static str) -> Self {
        self.domain = domain;
        self
    }

    /// States that results depend on more than the inputs.
    pub const fn not_foldable(mut self) -> Self {
        self.foldable = false;
        self
    }
}

/// Returns the row of an operator at an opset.
pub fn row(domain: &str, name: &str, opset: i64) -> Option<&'static Row> {
    let rows = FAMILIES.iter().flat_map(|family| family.iter());
    rows.into_iter().find(|row| {
        row.name == name && row.domain == domain && (row.since..=row.until).contains(&opset)
    })
}

/// Returns whether a model may use an operator: its domain (empty for ONNX's own), name and opset.
///
/// ```
/// assert!(nomina_onnx::supports("", "Conv", 17));
/// assert!(!nomina_onnx::supports("", "Upsample", 10));         // `Resize` since then
/// ```
#[must_use]
pub fn supports(domain: &str, name: &str, opset: i64) -> bool {
    row(domain, name, opset).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_opset_has_two_rows_of_an_operator() {
        let rows: Vec<&Row> = FAMILIES.iter().flat_map(|family| family.iter()).collect();
        for (at, a) in rows.iter().enumerate() {
            assert!(a.since <= a.until, "{a:?}");
            for b in &rows[at + 1..] {
                let apart = (a.domain, a.name) != (b.domain, b.name)
                    || a.until < b.since
                    || b.until < a.since;
                assert!(apart, "{a:?} and {b:?}");
            }
        }
    }
}
