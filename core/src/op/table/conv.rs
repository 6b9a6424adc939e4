//! Convolution, pooling, padding.

use crate::op::Row;

pub(super) const ROWS: &[Row] = &[];
