//! Exclusive access to the elements of a tensor, or to a part of them.

use std::panic::Location;

use crate::Device;
use nomina_core::{DType, Element, Result};

use super::graph::{Node, NodeRef, Overwritten, Tag, View, is_grad_enabled, record};
use super::{Raw, Strided};
use crate::storage::Storage;

/// A region that can be written to: nothing else shares its buffer while this lives, and no two
/// indices are the same element.
#[derive(Debug)]
pub struct RawMut<'a> {
    pub(super) storage: &'a mut Storage,
    pub(super) layout: Strided,
    dtype: DType,
    /// The first byte of the buffer.
    base: *mut u8,
    /// What computed the tensor that this is access to.
    tag: &'a mut Tag,
    /// Which part of it this is; none for all of it.
    pub(super) part: Option<View>,
}

// SAFETY: `base` points into `storage`, which is borrowed exclusively.
unsafe impl Send for RawMut<'_> {}
// SAFETY: through a shared reference nothing is written.
unsafe impl Sync for RawMut<'_> {}

impl Raw {
    /// Exclusive access to all elements; `None` where the buffer is shared, or two indices are one element.
    pub(crate) fn exclusive(&mut self) -> Option<RawMut<'_>> {
        if !self.layout.is_disjoint() {
            return None;
        }
        let base = self.storage.unique_ptr()?;
        let (layout, dtype) = (self.layout.clone(), self.dtype());
        Some(RawMut {
            storage: &mut self.storage,
            layout,
            dtype,
            base,
            tag: &mut self.tag,
            part: None,
        })
    }
}

impl<'a> RawMut<'a> {
    /// Sizes, outermost first.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.layout.shape
    }

    /// Strides in elements, outermost first.
    #[must_use]
    pub fn strides(&self) -> &[isize] {
        &self.layout.strides
    }

    /// Sizes, strides and offset.
    #[must_use]
    pub fn layout(&self) -> &Strided {
        &self.layout
    }

    /// The call that made the tensor, where a debug build was told.
    #[must_use]
    pub fn made(&self) -> Option<&'static Location<'static>> {
        self.tag.made()
    }

    /// The number of dims.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.layout.shape.len()
    }

    /// The number of elements.
    #[must_use]
    pub fn numel(&self) -> usize {
        self.layout.numel()
    }

    /// The dtype.
    #[must_use]
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The device.
    #[must_use]
    pub fn device(&self) -> Device {
        self.storage.device()
    }

    /// The address of the first element, on the tensor's device.
    #[must_use]
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        // Within the buffer, or at its end when there are no elements.
        self.base
            .wrapping_add(self.layout.offset * self.dtype.size())
    }

    /// The same access for a shorter time.
    #[must_use]
    pub fn reborrow(&mut self) -> RawMut<'_> {
        RawMut {
            storage: self.storage,
            layout: self.layout.clone(),
            dtype: self.dtype,
            base: self.base,
            tag: self.tag,
            part: self.part.clone(),
        }
    }

    /// The elements as a slice, when they are `T`, on the host, and contiguous.
    #[must_use]
    pub fn into_slice<T: Element>(mut self) -> Option<&'a mut [T]> {
        if self.dtype != T::DTYPE || !self.device().is_cpu() || !self.layout.is_contiguous() {
            return None;
        }
        let (first, count) = (self.as_mut_ptr().cast(), self.numel());
        // SAFETY: contiguous, initialised elements of `T`, borrowed exclusively for `'a`.
        Some(unsafe { std::slice::from_raw_parts_mut(first, count) })
    }

    /// The address of the element at an index; `None` where there is no such index.
    pub(crate) fn at(&mut self, index: &[usize]) -> Option<*mut u8> {
        let position = self.layout.position(index)?;
        Some(self.base.wrapping_add(position * self.dtype.size()))
    }

    /// A part of the region, or all of it in another order.
    pub(super) fn viewed(
        self,
        op: &'static str,
        change: impl Fn(&Strided) -> Result<Strided>,
    ) -> Result<Self> {
        let part = match &self.part {
            Some(part) => part.then(op, &change)?,
            None => View::new(op, self.shape(), &change)?,
        };
        Ok(Self {
            layout: change(&self.layout)?,
            part: Some(part),
            ..self
        })
    }

    /// The same region, which is all of its tensor, as a part that lies so.
    pub(super) fn part_of_all(self, layout: Strided, part: View) -> Self {
        let part = Some(part);
        Self {
            layout,
            part,
            ..self
        }
    }
}

/// What was recorded of a region before it is written to.
impl RawMut<'_> {
    /// Whether a write has to be recorded: the tensor is, or one of what is written is.
    pub(crate) fn records<'r>(&self, operands: impl IntoIterator<Item = &'r Raw>) -> bool {
        let mut operands = operands.into_iter();
        (self.tag.has_node() || operands.any(Raw::requires_grad)) && is_grad_enabled()
    }

    /// Whether it belongs to a leaf, which is written to by no recorded operator.
    pub(crate) fn is_of_leaf(&self) -> bool {
        self.tag.node().is_some_and(Node::is_leaf)
    }

    /// The elements as they are, recorded as a part of their tensor.
    ///
    /// # Errors
    /// When there is no memory for a node.
    pub(crate) fn value(&self) -> Result<Raw> {
        let raw = Raw {
            storage: self.storage.clone(),
            layout: self.layout.clone(),
            tag: Tag::of(self.dtype),
        };
        match (&self.part, self.tag.node_ref()) {
            (_, None) => Ok(raw),
            (None, Some(node)) => Ok(raw.computed_by(node)),
            (Some(part), Some(node)) => {
                let whole = raw.clone().computed_by(node);
                record(raw, [Some(&whole)], part.clone())
            }
        }
    }

    /// The node of the tensor once `value` is written here, which none of its elements survives where this is all of it.
    ///
    /// # Errors
    /// When there is no memory for a node.
    pub(crate) fn node_after(
        &self,
        op: &'static str,
        value: Option<&Raw>,
    ) -> Result<Option<NodeRef>> {
        let written = value.and_then(|raw| raw.tag.node_ref());
        let Some(part) = &self.part else {
            return Ok(written);
        };
        let part = part.clone();
        let edges = [self.tag.node_ref(), written];
        NodeRef::new(edges.into_iter().collect(), Overwritten { op, part }).map(Some)
    }

    /// A buffer that nobody else sees; `copy` makes it of the whole one.
    ///
    /// # Errors
    /// When `copy` fails.
    pub(crate) fn own(&mut self, copy: impl FnOnce(&Raw) -> Result<Raw>) -> Result<()> {
        if !self.storage.is_unique() {
            let bytes = self.storage.len();
            let whole = Raw::row_major(self.storage.clone(), &[bytes], DType::U8);
            *self.storage = copy(&whole)?.storage;
        }
        if let Some(base) = self.storage.unique_ptr() {
            self.base = base;
        }
        Ok(())
    }

    /// From now on a node computed the tensor, or nothing did.
    pub(crate) fn was_computed_by(&mut self, node: Option<NodeRef>) {
        let made = self.tag.made();
        *self.tag = match node {
            None => Tag::of(self.dtype),
            Some(node) => Tag::computed(self.dtype, node),
        }
        .made_at(made);
    }
}
