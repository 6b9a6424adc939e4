//! Normalisation layers and dropout.

use crate::op::Row;

pub(super) const ROWS: &[Row] = &[];
