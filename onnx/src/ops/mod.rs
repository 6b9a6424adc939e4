//! The rows of the operator table and their computations, a file per family.

mod activation;
mod attention;
mod compare;
mod control;
pub mod conv;
mod elementwise;
mod index;
mod loss;
mod move_elements;
mod norm;
mod pool;
mod product;
mod quantize;
mod reduce;
mod resample;
mod rnn;
mod scatter;
mod sequence;
mod shape;
mod signal;
mod train;
mod vision;
pub mod window;

pub use activation::gelu;
pub use move_elements::slice_range;

use crate::graph::Operator;
use crate::table::Row;

/// All rows.
pub const FAMILIES: &[&[Row]] = &[
    activation::ROWS,
    attention::ROWS,
    compare::ROWS,
    control::ROWS,
    conv::ROWS,
    elementwise::ROWS,
    index::ROWS,
    loss::ROWS,
    move_elements::ROWS,
    norm::ROWS,
    pool::ROWS,
    product::ROWS,
    quantize::ROWS,
    reduce::ROWS,
    resample::ROWS,
    rnn::ROWS,
    scatter::ROWS,
    sequence::ROWS,
    shape::ROWS,
    signal::ROWS,
    train::ROWS,
    vision::ROWS,
];

/// Returns the row of an operator at an opset.
pub fn row(domain: &str, name: &str, opset: i64) -> Option<&'static Row> {
    let rows = FAMILIES.iter().flat_map(|family| family.iter());
    rows.into_iter().find(|row| {
        row.name == name && row.domain == domain && (row.since..=row.until).contains(&opset)
    })
}

/// Returns the operator of a node.
pub fn operator(domain: &str, name: &str, opset: i64) -> Option<&'static dyn Operator> {
    row(domain, name, opset).map(|row| row as &dyn Operator)
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
