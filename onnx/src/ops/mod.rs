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
