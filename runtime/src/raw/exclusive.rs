//! Exclusive access to the elements of a tensor, or to a part of them.

use std::panic::Location;

use crate::Device;
use nomina_core::{DType, Element, Result};

use super::graph::{Node, NodeRef, Overwritten, Tag, View, is_grad_enabled, record};
use super::{Raw, Strided};
use crate::storage::Storage;

/// A writable region: no other reference to its buffer exists while this lives, and no two indices are the same
/// element.
#[derive(Debug)]
pub struct RawMut<'a> {
    pub(super) storage: &'a mut Storage,
    pub(super) layout: Strided,
    dtype: DType,
    /// The first byte of the buffer.
    base: *mut u8,
    /// The tag of the tensor that is accessed.
    tag: &'a mut Tag,
    /// The part of the tensor that is accessed; `None` for all of it.
    pub(super) part: Option<View>,
}

// SAFETY: `base` points into `storage`, which is borrowed exclusively.
unsafe impl Send for RawMut<'_> {}
// SAFETY: a shared reference gives no write access.
unsafe impl Sync for RawMut<'_> {}

impl Raw {
    /// Returns exclusive access to all elements; `None` if the buffer is shared, or two indices are one element.
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
    /// Returns the sizes, outermost first.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.layout.shape
    }

    /// Returns the strides in elements, outermost first.
    #[must_use]
    pub fn strides(&self) -> &[isize] {
        &self.layout.strides
    }

    /// Returns sizes, strides and offset.
    #[must_use]
    pub fn layout(&self) -> &Strided {
        &self.layout
    }

    /// Returns the call that created the tensor, if a debug build recorded it.
    #[must_use]
    pub fn created_at(&self) -> Option<&'static Location<'static>> {
        self.tag.created_at()
    }

    /// Returns the number of dims.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.layout.shape.len()
    }

    /// Returns the number of elements.
    #[must_use]
    pub fn numel(&self) -> usize {
        self.layout.numel()
    }

    /// Returns the dtype.
    #[must_use]
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Returns the device.
    #[must_use]
    pub fn device(&self) -> Device {
        self.storage.device()
    }

    /// Returns the address of the first element, on the tensor's device.
    #[must_use]
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        // Within the buffer, or at its end if there are no elements.
        self.base
            .wrapping_add(self.layout.offset * self.dtype.size())
    }

    /// Borrows the access for a shorter time.
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

    /// Returns the elements as a slice, if they are `T`, on the host, and contiguous.
    #[must_use]
    pub fn into_slice<T: Element>(mut self) -> Option<&'a mut [T]> {
        if self.dtype != T::DTYPE || !self.device().is_cpu() || !self.layout.is_contiguous() {
            return None;
        }
        let (first, count) = (self.as_mut_ptr().cast(), self.numel());
        // SAFETY: contiguous, initialised elements of `T`, borrowed exclusively for `'a`.
        Some(unsafe { std::slice::from_raw_parts_mut(first, count) })
    }

    /// Returns the address of the element at an index; `None` if there is no such index.
    pub(crate) fn at(&mut self, index: &[usize]) -> Option<*mut u8> {
        let position = self.layout.position(index)?;
        Some(self.base.wrapping_add(position * self.dtype.size()))
    }

    /// Returns a view of the region.
    pub(super) fn viewed(
        self,
        op: &'static str,
        change: &dyn Fn(&Strided) -> Result<Strided>,
    ) -> Result<Self> {
        let part = match &self.part {
            Some(part) => part.then(op, change)?,
            None => View::new(op, self.shape(), change)?,
        };
        Ok(Self {
            layout: change(&self.layout)?,
            part: Some(part),
            ..self
        })
    }

    /// Returns a part of this region, which must be all of its tensor, with the layout of that part.
    pub(super) fn part_of_all(self, layout: Strided, part: View) -> Self {
        let part = Some(part);
        Self {
            layout,
            part,
            ..self
        }
    }
}

/// Recording of writes.
impl RawMut<'_> {
    /// Returns whether a write must be recorded: because the tensor is recorded, or one of the written values.
    pub(crate) fn records<'r>(&self, operands: impl IntoIterator<Item = &'r Raw>) -> bool {
        let mut operands = operands.into_iter();
        (self.tag.has_node() || operands.any(Raw::requires_grad)) && is_grad_enabled()
    }

    /// Returns whether it belongs to a leaf; no recorded operator may write to a leaf.
    pub(crate) fn is_of_leaf(&self) -> bool {
        self.tag.node().is_some_and(Node::is_leaf)
    }

    /// Returns the current elements, recorded as a part of their tensor.
    ///
    /// # Errors
    /// If there is no memory for a node.
    pub(crate) fn value(&self) -> Result<Raw> {
        let raw = Raw {
            storage: self.storage.clone(),
            layout: self.layout.clone(),
            tag: Tag::for_dtype(self.dtype),
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

    /// Returns the node of the tensor after `value` is written to this region. If the region is all of the tensor, the
    /// previous node is dropped.
    ///
    /// # Errors
    /// If there is no memory for a node.
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

    /// Makes the buffer unshared: if it is shared, `copy` copies the whole buffer.
    ///
    /// # Errors
    /// If `copy` fails.
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

    /// Sets the node of the tensor; `None` if it is not recorded.
    pub(crate) fn was_computed_by(&mut self, node: Option<NodeRef>) {
        let made = self.tag.created_at();
        *self.tag = match node {
            None => Tag::for_dtype(self.dtype),
            Some(node) => Tag::computed(self.dtype, node),
        }
        .made_at(made);
    }
}
