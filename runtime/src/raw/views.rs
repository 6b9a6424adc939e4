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
            tag: Tag::for_dtype(self.dtype()).made_at(self.created_at()),
        }
    }

    /// Returns a view of the buffer with any sizes and strides. If the tensor is recorded, the view is recorded, and
    /// may only reach the tensor's own elements.
    ///
    /// # Errors
    /// If it would reach outside of the buffer; for recorded tensors, outside of a contiguous tensor.
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
            let what = "the view exceeds the tensor, which requires a gradient";
            return Err(Error::new(ErrorKind::Gradient, op, what)
                .operand(&Names::default(), self.shape())
                .hint("use `contiguous` and stay within it, or `detach`"));
        }
        let (shape, strides) = (view.layout.shape.clone(), view.layout.strides.clone());
        let from = offset.saturating_sub(start);
        let relative = |_: &Strided| Strided::new(op, shape.clone(), strides.clone(), from);
        self.recorded(view, op, &relative)
    }

    /// Returns the same tensor as a view, which is not a leaf, so writes to it are recorded.
    ///
    /// # Errors
    /// If there is no memory to record it.
    pub fn aliased(&self) -> Result<Self> {
        self.viewed("alias", |layout| Ok(layout.clone()))
    }

    /// Returns the same elements under another layout, recorded if the tensor is. `change` computes it from a given
    /// layout.
    fn viewed(
        &self,
        op: &'static str,
        change: impl Fn(&Strided) -> Result<Strided>,
    ) -> Result<Self> {
        let view = self.with_layout(change(&self.layout)?);
        if !graph::is_wanted([self]) {
            return Ok(view);
        }
        self.recorded(view, op, &change)
    }

    /// Records a view, whose layout `change` computes.
    #[cold]
    fn recorded(
        &self,
        view: Self,
        op: &'static str,
        change: &dyn Fn(&Strided) -> Result<Strided>,
    ) -> Result<Self> {
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
                self.viewed(stringify!($name), &|layout| layout.clone().$name($($arg),*))
            }
        )*}
    };
}

views! {
    /// Reorders the dims: `dims[i]` becomes dim `i`.
    ///
    /// # Errors
    /// If `dims` does not list every dim once.
    permute(dims: &[usize]);
    /// Reorders the dims, and inserts new ones of size 1 at each `None` of `places`: as in PyTorch, a dim that is not
    /// in memory has stride 0.
    ///
    /// # Errors
    /// If `places` does not list every dim once.
    align(places: &[Option<usize>]);
    /// Swaps two dims.
    ///
    /// # Errors
    /// If a dim is out of range.
    transpose(dim0: usize, dim1: usize);
    /// Selects `len` elements of a dim, from `start` on.
    ///
    /// # Errors
    /// If the range leaves the dim.
    narrow(dim: usize, start: usize, len: usize);
    /// Selects `len` elements of a dim from `start` on, `step` apart; backwards if `step` is negative.
    ///
    /// # Errors
    /// If an index leaves the dim, or `step` is zero.
    slice(dim: usize, start: usize, len: usize, step: isize);
    /// Selects one index of a dim, and removes the dim.
    ///
    /// # Errors
    /// If the index is out of range.
    select(dim: usize, index: usize);
    /// Inserts a new dim of size 1 before dim `at`.
    ///
    /// # Errors
    /// If `at` is greater than the rank.
    unsqueeze(at: usize);
    /// Removes a dim of size 1; a dim of another size is kept.
    ///
    /// # Errors
    /// If the dim is out of range.
    squeeze(dim: usize);
    /// Reverses a dim.
    ///
    /// # Errors
    /// If the dim is out of range.
    flip(dim: usize);
    /// Returns the diagonal of two dims as a new last dim; `offset` moves it up, or down if negative.
    ///
    /// # Errors
    /// If a dim is out of range, or both are the same.
    diagonal(dim0: usize, dim1: usize, offset: isize);
}

impl Raw {
    /// Returns windows of `size` elements of a dim that begin `step` apart; the dim within a window is last.
    ///
    /// # Errors
    /// If the dim is out of range, a window is larger than it, or `step` is zero.
    // Only for reading: windows may share elements.
    pub fn windows(&self, dim: usize, size: usize, step: usize) -> Result<Self> {
        self.viewed("windows", |layout| layout.clone().windows(dim, size, step))
    }

    /// Repeats dims of size 1, and adds new dims on the left, to reach `shape`.
    ///
    /// # Errors
    /// If another size would change.
    pub fn expand(&self, shape: &[usize]) -> Result<Self> {
        self.viewed("expand", |layout| layout.expand(shape))
    }

    /// Like [`Raw::expand`], but errors name the operator `op`.
    ///
    /// # Errors
    /// If another size would change.
    pub fn broadcast_to(&self, op: &'static str, shape: &[usize]) -> Result<Self> {
        self.expand(shape).map_err(|error| error.in_op(op))
    }

    /// Returns the same elements in row-major order with other sizes; `None` if that requires a copy.
    ///
    /// # Errors
    /// If there is no memory to record it.
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
    /// Returns the same elements in row-major order with other sizes.
    ///
    /// # Errors
    /// If the number of elements changes, or the strides do not allow it.
    pub fn view(self, shape: &[usize]) -> Result<Self> {
        check_count("view", &self.layout, shape)?;
        let refuse = |layout: &Strided| not_viewed("view", layout, shape);
        self.viewed("view", &|layout| {
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
