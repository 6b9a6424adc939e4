//! Sorting, order statistics, counting.

use crate::op::Row;

pub(super) const ROWS: &[Row] = &[];
