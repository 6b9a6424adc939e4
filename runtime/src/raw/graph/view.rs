//! Views as nodes.

use nomina_core::Result;

use super::record;
use crate::raw::{Raw, RawMut, Strided};
use crate::shape::Shape;

/// A view of a tensor: its layout in a tensor that is row-major from the start of its buffer.
#[derive(Clone, Debug)]
pub(crate) struct View {
    op: &'static str,
    shape: Shape,
    layout: Strided,
}

impl View {
    /// Creates a view of tensors of these sizes; `change` turns the tensor's layout into the view's.
    pub(crate) fn new(
        op: &'static str,
        shape: &[usize],
        change: &dyn Fn(&Strided) -> Result<Strided>,
    ) -> Result<Self> {
        let layout = change(&Strided::row_major(shape))?;
        let shape = Shape::from_slice(shape);
        Ok(Self { op, shape, layout })
    }

    /// Returns a view of the view.
    pub(crate) fn then(
        &self,
        op: &'static str,
        change: &dyn Fn(&Strided) -> Result<Strided>,
    ) -> Result<Self> {
        Ok(Self {
            op,
            shape: self.shape.clone(),
            layout: change(&self.layout)?,
        })
    }

    /// Returns the operator.
    pub(crate) fn op(&self) -> &'static str {
        self.op
    }

    /// Returns the sizes of the tensor.
    pub(crate) fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Returns the layout of the view.
    pub(crate) fn layout(&self) -> &Strided {
        &self.layout
    }

    /// Returns the layout in a row-major tensor, including the tensor's offset in its buffer.
    fn within(&self, whole: &Strided) -> Option<Strided> {
        (whole.shape == self.shape && whole.is_contiguous()).then(|| {
            let mut layout = self.layout.clone();
            layout.offset += whole.offset;
            layout
        })
    }
}

impl Raw {
    /// Returns the view of a row-major tensor; the tensor itself if it has other sizes.
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
    /// Like [`Raw::through`], but for writing.
    pub(crate) fn through(self, view: &View) -> Self {
        match view.within(&self.layout) {
            None => self,
            Some(layout) => self.part_of_all(layout, view.clone()),
        }
    }
}

/// A tensor a part of which was overwritten: the gradient of the part goes to the written value, the rest to the
/// previous tensor.
#[derive(Debug)]
pub(crate) struct Overwritten {
    pub(crate) op: &'static str,
    pub(crate) part: View,
}
