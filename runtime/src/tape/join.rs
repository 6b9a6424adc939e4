//! Tensors joined along a dim, and triangles of matrices.

use nomina_core::Result;
use nomina_core::op::Op;

use super::operand_rule::record_saved;
use crate::SmallVec;
use crate::raw::Raw;

/// The saved values of tensors joined along `dim`.
pub(crate) struct JoinSaved {
    pub(crate) dim: usize,
    /// The start and length of each operand along `dim`; none for operands of sizes `[0]`.
    pub(crate) ranges: SmallVec<[Option<(usize, usize)>; 4]>,
}

/// Records `parts` joined along `dim`.
pub(crate) fn record_join(op: Op, out: Raw, parts: &[&Raw], dim: usize) -> Result<Raw> {
    record_saved(op, out, parts, || {
        let len = |x: &&Raw| x.shape().get(dim).copied().filter(|_| x.numel() > 0);
        let mut end = 0;
        let ranges = parts.iter().map(len).map(|len| {
            let len = len?;
            let start = end;
            end += len;
            Some((start, len))
        });
        let ranges = ranges.collect();
        JoinSaved { dim, ranges }
    })
}

/// The saved values of an upper or lower triangle.
pub(crate) struct TriangleSaved {
    pub(crate) diagonal: i64,
    pub(crate) upper: bool,
}

/// Records the elements on a diagonal and on one side of it.
pub(crate) fn record_triangle(out: Raw, x: &Raw, diagonal: i64, upper: bool) -> Result<Raw> {
    let op = if upper { Op::Triu } else { Op::Tril };
    record_saved(op, out, [x], || TriangleSaved { diagonal, upper })
}
