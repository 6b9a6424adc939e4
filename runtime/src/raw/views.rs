//! Views: other layouts of the same buffer, without a copy.

use nomina_core::{Error, ErrorKind, Names, Result};

use super::graph::{self, Tag, View};
use super::{Raw, RawMut, Strided};
use crate::shape::{Shape, Strides, numel};

impl Raw {
    pub(super) fn with_layout(&self, layout: Strided) -> Self {
        Self {
            storage: self.storage.clone(),
            layout,
            tag: Tag::of(self.dtype()).made_at(self.made()),
        }
    }

    /// A view of the buffer with any sizes and strides, recorded where this is, whose elements are then this tensor's own.
    ///
    /// # Errors
    /// When it would reach outside of the buffer; of what is recorded, outside of a contiguous tensor.
    pub fn strided_view(&self, shape: Shape, strides: Strides, offset: usize) -> Result<Self> {
        let op = "as_strided";
        let view = self.as_strided(op, self.dtype(), shape, strides, offset)?;
        if !graph::is_wanted([self]) {
            return Ok(view);
        }
        let start = self.layout.offset();
        let own = start as isize..(start + self.numel()) as isize;
        let inside = match view.layout.reach() {
            None => true,
            Some((least, most)) => own.contains(&least) && own.contains(&most),
        };
        if !inside || !self.is_contiguous() {
            let what = "the view has elements that the tensor, which wants a gradient, has not";
            return Err(Error::new(ErrorKind::Gradient, op, what)
                .operand(&Names::default(), self.shape())
                .hint("use `contiguous` first, and stay within it, or `detach`"));
        }
        let (shape, strides) = (view.layout.shape.clone(), view.layout.strides.clone());
        let from = offset.saturating_sub(start);
        let relative = |_: &Strided| Strided::new(op, shape.clone(), strides.clone(), from);
        graph::record(view, [Some(self)], View::new(op, self.shape(), relative)?)
    }

    /// The same tensor, and no leaf: what is written to it is recorded.
    ///
    /// # Errors
    /// When there is no memory to record it.
    pub fn aliased(&self) -> Result<Self> {
        self.viewed("alias", |layout| Ok(layout.clone()))
    }

    /// The same elements under a layout, recorded where this is. `change` makes it of the layout that is given.
    fn viewed(
        &self,
        op: &'static str,
        change: impl Fn(&Strided) -> Result<Strided>,
    ) -> Result<Self> {
        let view = self.with_layout(change(&self.layout)?);
        if !graph::is_wanted([self]) {
            return Ok(view);
        }
        graph::record(view, [Some(self)], View::new(op, self.shape(), change)?)
    }
}

macro_rules! views {
    ($($(#[$doc:meta])* $name:ident($($arg:ident: $t:ty),*);)*) => {
        impl Raw {$(
            $(#[$doc])*
            pub fn $name(&self, $($arg: $t),*) -> Result<Self> {
                self.viewed(stringify!($name), |layout| layout.clone().$name($($arg),*))
            }
        )*}
        impl RawMut<'_> {$(
            $(#[$doc])*
            pub fn $name(self, $($arg: $t),*) -> Result<Self> {
                self.viewed(stringify!($name), |layout| layout.clone().$name($($arg),*))
            }
        )*}
    };
}

views! {
    /// The dims in another order: `dims[i]` becomes dim `i`.
    ///
    /// # Errors
    /// When `dims` does not list every dim once.
    permute(dims: &[usize]);
    /// The dims in another order, with new ones of size 1 where `places` says `None`: a dim that is
    /// not there in memory has stride 0, as in PyTorch.
    ///
    /// # Errors
    /// When `places` does not list every dim once.
    align(places: &[Option<usize>]);
    /// Two dims swapped.
    ///
    /// # Errors
    /// When a dim is out of range.
    transpose(dim0: usize, dim1: usize);
    /// `len` elements of a dim from `start` on.
    ///
    /// # Errors
    /// When the range leaves the dim.
    narrow(dim: usize, start: usize, len: usize);
    /// `len` elements of a dim from `start` on, `step` apart; backwards when `step` is negative.
    ///
    /// # Errors
    /// When an index leaves the dim, or `step` is zero.
    slice(dim: usize, start: usize, len: usize, step: isize);
    /// One index of a dim, which goes.
    ///
    /// # Errors
    /// When the index is out of range.
    select(dim: usize, index: usize);
    /// A new dim of size 1 before dim `at`.
    ///
    /// # Errors
    /// When `at` is greater than the rank.
    unsqueeze(at: usize);
    /// Without a dim of size 1; unchanged when its size is another.
    ///
    /// # Errors
    /// When the dim is out of range.
    squeeze(dim: usize);
    /// A dim backwards.
    ///
    /// # Errors
    /// When the dim is out of range.
    flip(dim: usize);
    /// The diagonal of two dims, as a new last dim; `offset` moves it up, or down when negative.
    ///
    /// # Errors
    /// When a dim is out of range, or both are the same.
    diagonal(dim0: usize, dim1: usize, offset: isize);
}

impl Raw {
    /// Windows of `size` elements of a dim that begin `step` apart; the dim within a window stands last.
    ///
    /// # Errors
    /// When the dim is out of range, a window is larger than it, or `step` is zero.
    // Of what is read only: windows may share elements.
    pub fn windows(&self, dim: usize, size: usize, step: usize) -> Result<Self> {
        self.viewed("windows", |layout| layout.clone().windows(dim, size, step))
    }

    /// Dims of size 1 repeated, and new dims on the left, to reach `shape`.
    ///
    /// # Errors
    /// When another size would change.
    pub fn expand(&self, shape: &[usize]) -> Result<Self> {
        self.viewed("expand", |layout| layout.expand(shape))
    }

    /// As [`Raw::expand`], for an operand of `op`.
    ///
    /// # Errors
    /// When another size would change.
    pub fn broadcast_to(&self, op: &'static str, shape: &[usize]) -> Result<Self> {
        self.expand(shape).map_err(|error| error.in_op(op))
    }

    /// The same elements in row-major order under other sizes; `None` where only a copy has them.
    ///
    /// # Errors
    /// When there is no memory to record it.
    pub fn view(&self, shape: &[usize]) -> Result<Option<Self>> {
        if self.layout.view(shape).is_none() {
            return Ok(None);
        }
        let refuse = |layout: &Strided| not_viewed("view", layout, shape);
        self.viewed("view", |layout| {
            layout.view(shape).ok_or_else(|| refuse(layout))
        })
        .map(Some)
    }
}

impl RawMut<'_> {
    /// The same elements in row-major order under other sizes.
    ///
    /// # Errors
    /// When the number of elements changes, or the strides do not allow it.
    pub fn view(self, shape: &[usize]) -> Result<Self> {
        check_count("view", &self.layout, shape)?;
        let refuse = |layout: &Strided| not_viewed("view", layout, shape);
        self.viewed("view", |layout| {
            layout.view(shape).ok_or_else(|| refuse(layout))
        })
    }
}

#[cold]
pub(crate) fn not_viewed(op: &'static str, layout: &Strided, shape: &[usize]) -> Error {
    let what = format!("the strides do not allow {shape:?}");
    Error::new(ErrorKind::Shape, op, what)
        .operand(&Names::default(), &layout.shape)
        .hint("write to it in its own shape")
}

pub(crate) fn check_count(op: &'static str, layout: &Strided, shape: &[usize]) -> Result<()> {
    let count = numel(op, shape)?;
    if count == layout.numel() {
        return Ok(());
    }
    let what = format!("{} elements do not fill {shape:?}", layout.numel());
    Err(Error::new(ErrorKind::Shape, op, what)
        .operand(&Names::default(), &layout.shape)
        .hint("give sizes with the same product"))
}
