//! Attributes, conversions and resizing.

use crate::op::Row;

pub(super) const ROWS: &[Row] = &[];
