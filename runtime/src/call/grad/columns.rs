//! im2col and col2im: each is the other's adjoint.

use nomina_core::Result;
use nomina_core::op::Op;

use super::by;
use crate::call::{Columns, fold, im2col};
use crate::raw::Raw;

/// How a window slides, kept.
struct SavedArguments([Vec<usize>; 4]);

impl SavedArguments {
    fn new(args: &Columns<'_>) -> Self {
        Self([args.kernel, args.dilation, args.padding, args.stride].map(<[usize]>::to_vec))
    }

    fn args(&self) -> Columns<'_> {
        let [kernel, dilation, padding, stride] = &self.0;
        Columns {
            kernel,
            dilation,
            padding,
            stride,
        }
    }
}

/// Records columns.
pub(in crate::call) fn columns(out: Raw, x: &Raw, args: &Columns<'_>) -> Result<Raw> {
    by(Op::Im2col, out, [x], || {
        let (kept, sizes) = (SavedArguments::new(args), x.shape()[2..].to_vec());
        move |back, _| fold(&back.grad()?, &sizes, &kept.args()).map(Some)
    })
}

/// Records columns that were added up.
pub(in crate::call) fn folded(out: Raw, x: &Raw, args: &Columns<'_>) -> Result<Raw> {
    by(Op::Fold, out, [x], || {
        let kept = SavedArguments::new(args);
        move |back, _| im2col(&back.grad()?, &kept.args()).map(Some)
    })
}
