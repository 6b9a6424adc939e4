//! Products by letters, by names and of several operands.

use crate::op::Row;

pub(super) const ROWS: &[Row] = &[];
