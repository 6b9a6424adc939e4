//! Operators that move, repeat or lay out elements anew.

use crate::op::Row;

pub(super) const ROWS: &[Row] = &[];
