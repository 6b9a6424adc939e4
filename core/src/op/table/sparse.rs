//! Sparse tensors.

use crate::op::Row;

pub(super) const ROWS: &[Row] = &[];
