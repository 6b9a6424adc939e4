//! Gradients of im2col and col2im: each is the adjoint of the other.

use nomina_core::Result;

use crate::call::{Columns, fold, im2col};
use crate::raw::Raw;
use crate::tape::{Backward, FoldSaved, Im2colSaved, Upstream, WindowArguments};

fn columns([kernel, dilation, padding, stride]: &WindowArguments) -> Columns<'_> {
    Columns {
        kernel,
        dilation,
        padding,
        stride,
    }
}

impl Backward for Im2colSaved {
    fn gradient(&self, upstream: &Upstream<'_>, _: usize) -> Result<Option<Raw>> {
        fold(&upstream.grad()?, &self.sizes, &columns(&self.window)).map(Some)
    }
}

impl Backward for FoldSaved {
    fn gradient(&self, upstream: &Upstream<'_>, _: usize) -> Result<Option<Raw>> {
        im2col(&upstream.grad()?, &columns(&self.window)).map(Some)
    }
}
