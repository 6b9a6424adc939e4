//! Elements picked dim by dim, as padding does.

use nomina_core::Result;
use nomina_core::op::Op;

use super::operand_rule::record_saved;
use crate::raw::Raw;
use crate::shape::Shape;

/// The saved values of padding.
pub(crate) struct PadSaved {
    /// The source position of each result position along a dim; -1 for a constant. None for a dim that stays.
    pub(crate) maps: Vec<Option<Vec<isize>>>,
    /// The operand's sizes.
    pub(crate) shape: Shape,
}

/// Records a result whose elements `maps` picked along each dim.
pub(crate) fn record_pad(op: Op, out: Raw, x: &Raw, maps: &[Option<Vec<isize>>]) -> Result<Raw> {
    record_saved(op, out, [x], || PadSaved {
        maps: maps.to_vec(),
        shape: Shape::from_slice(x.shape()),
    })
}
