//! im2col and col2im.

use nomina_core::Result;
use nomina_core::op::Op;

use super::operand_rule::record_saved;
use crate::raw::Raw;

/// The kernel, dilation, padding and stride of a sliding window.
pub(crate) type WindowArguments = [Vec<usize>; 4];

/// The saved values of im2col.
pub(crate) struct Im2colSaved {
    pub(crate) window: WindowArguments,
    /// The operand's sizes along the window's dims.
    pub(crate) sizes: Vec<usize>,
}

/// The saved values of col2im.
pub(crate) struct FoldSaved {
    pub(crate) window: WindowArguments,
}

/// Records the columns of a window with this kernel, dilation, padding and stride.
pub(crate) fn record_im2col(out: Raw, x: &Raw, window: [&[usize]; 4]) -> Result<Raw> {
    record_saved(Op::Im2col, out, [x], || Im2colSaved {
        window: window.map(<[usize]>::to_vec),
        sizes: x.shape()[2..].to_vec(),
    })
}

/// Records the sums of columns, by the arguments of [`record_im2col`].
pub(crate) fn record_fold(out: Raw, x: &Raw, window: [&[usize]; 4]) -> Result<Raw> {
    record_saved(Op::Fold, out, [x], || FoldSaved {
        window: window.map(<[usize]>::to_vec),
    })
}
