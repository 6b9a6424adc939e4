//! Indexing: by position, by index tensors, by masks.

use crate::op::Row;

pub(super) const ROWS: &[Row] = &[];
