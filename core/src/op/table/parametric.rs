//! Elementwise functions with parameters.

use crate::op::Row;

pub(super) const ROWS: &[Row] = &[];
