//! Views as nodes.

use nomina_core::Result;

use super::record;
use crate::raw::{Raw, RawMut, Strided};
use crate::shape::Shape;

/// A view of a tensor: the layout that it has where the tensor is row-major from the start of its buffer.
#[derive(Clone, Debug)]
pub(crate) struct View {
    op: &'static str,
    shape: Shape,
    layout: Strided,
}

impl View {
    /// Of tensors of so many sizes; `change` makes the view's layout of the tensor's.
    pub(crate) fn new(
        op: &'static str,
        shape: &[usize],
        change: impl Fn(&Strided) -> Result<Strided>,
    ) -> Result<Self> {
        let layout = change(&Strided::row_major(shape))?;
        let shape = Shape::from_slice(shape);
        Ok(Self { op, shape, layout })
    }

    /// A view of the view.
    pub(crate) fn then(
        &self,
        op: &'static str,
        change: impl Fn(&Strided) -> Result<Strided>,
    ) -> Result<Self> {
        Ok(Self {
            op,
            shape: self.shape.clone(),
            layout: change(&self.layout)?,
        })
    }

    /// The operator.
    pub(crate) fn op(&self) -> &'static str {
        self.op
    }

    /// The sizes of the tensor.
    pub(crate) fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The layout of the view.
    pub(crate) fn layout(&self) -> &Strided {
        &self.layout
    }

    /// The layout in a row-major tensor, from where it begins in its buffer.
    fn within(&self, whole: &Strided) -> Option<Strided> {
        (whole.shape == self.shape && whole.is_contiguous()).then(|| {
            let mut layout = self.layout.clone();
            layout.offset += whole.offset;
            layout
        })
    }
}

impl Raw {
    /// The view of a row-major tensor; itself where it is none of those sizes.
    pub(crate) fn through(&self, view: &View) -> Result<Self> {
        match view.within(&self.layout) {
            None => Ok(self.clone()),
            Some(layout) if self.requires_grad() => {
                record(self.with_layout(layout), [Some(self)], view.clone())
            }
            Some(layout) => Ok(self.with_layout(layout)),
        }
    }
}

impl RawMut<'_> {
    /// The view of a row-major tensor; itself where it is none of those sizes.
    pub(crate) fn through(self, view: &View) -> Self {
        match view.within(&self.layout) {
            None => self,
            Some(layout) => self.part_of_all(layout, view.clone()),
        }
    }
}

/// A tensor a part of which was written: what comes back for the part goes to what was written, the rest to the tensor before.
#[derive(Debug)]
pub(crate) struct Overwritten {
    pub(crate) op: &'static str,
    pub(crate) part: View,
}
