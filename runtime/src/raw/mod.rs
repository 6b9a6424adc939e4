//! Tensors without names: a shared buffer, a layout, a dtype.

mod access;
pub(crate) mod arg;
mod bytes;
mod coo;
#[cfg(feature = "dlpack")]
pub mod dlpack;
mod exclusive;
mod format;
pub(crate) mod graph;
#[cfg(feature = "mmap")]
mod map;
#[cfg(feature = "ndarray")]
mod ndarray;
mod owner;
mod strided;
mod views;

#[cfg(test)]
mod tests;

use std::panic::Location;

use crate::Device;
use nomina_core::{DType, Element, Error, ErrorKind, Names, Result};

use crate::shape::{Shape, Strides, numel};
use crate::storage::Storage;

pub use access::Iter;
pub use bytes::Unwritten;
pub(crate) use bytes::check_elements;
pub use coo::RawCoo;
pub use exclusive::RawMut;
pub(crate) use format::{dense, preserved};
pub use format::{strides_in, strides_like};
use graph::{Node, NodeRef, Tag};
#[cfg(feature = "mmap")]
pub use map::{MappedFile, MappedPart};
pub use strided::Strided;
pub(crate) use views::{check_count, not_viewed};

/// A tensor without names. Clones share the buffer and are cheap.
///
/// Invariants: every index is inside the buffer, and every element of the buffer is initialised and valid for the
/// dtype.
#[derive(Clone, Debug)]
pub struct Raw {
    storage: Storage,
    layout: Strided,
    /// The dtype, and the node that computed the tensor.
    tag: Tag,
}

impl Raw {
    /// Creates a row-major tensor from a new buffer of matching length.
    pub(crate) fn row_major(storage: Storage, shape: &[usize], dtype: DType) -> Self {
        Self {
            storage,
            layout: Strided::row_major(shape),
            tag: Tag::for_dtype(dtype),
        }
    }

    /// Creates a row-major tensor from the elements of `data`, and takes over its allocation.
    ///
    /// # Errors
    /// [`ErrorKind::Shape`] if the sizes do not multiply to the number of elements.
    pub fn from_vec<T: Element>(data: Vec<T>, shape: &[usize]) -> Result<Self> {
        let count = numel("from_vec", shape)?;
        if count != data.len() {
            let what = format!("{} elements, but the sizes need {count}", data.len());
            return Err(Error::new(ErrorKind::Shape, "from_vec", what)
                .operand(&Names::default(), shape)
                .hint("give sizes whose product is the number of elements"));
        }
        let storage = Storage::adopt("from_vec", data)?;
        Ok(Self::row_major(storage, shape, T::DTYPE))
    }

    /// Creates a tensor from new elements with the strides of another tensor, from the start of their buffer.
    ///
    /// # Safety
    /// `like` has no gaps, and `storage` holds that many elements of `dtype`, all of them written.
    #[inline(always)]
    pub(crate) unsafe fn like(storage: Storage, dtype: DType, like: &Strided) -> Self {
        Self {
            storage,
            layout: like.at_start(),
            tag: Tag::for_dtype(dtype),
        }
    }

    /// Like [`Raw::like`], but for a layout that owns no allocation.
    ///
    /// # Safety
    /// The requirements of [`Raw::like`]; and `like` is not [spilled](Strided::is_spilled).
    #[inline(always)]
    pub(crate) unsafe fn like_small(storage: Storage, dtype: DType, like: &Strided) -> Self {
        Self {
            storage,
            // SAFETY: guaranteed by the caller.
            layout: unsafe { like.copied_at(0) },
            tag: Tag::for_dtype(dtype),
        }
    }

    /// Returns the same buffer with any sizes, strides and offset, in elements of `dtype`, which is that of the tensor
    /// or has the same parts. Every layout that is not a view of another one is checked here.
    ///
    /// # Errors
    /// [`ErrorKind::Shape`] if it would reach outside of the buffer, or no tensor may have these sizes.
    pub(crate) fn as_strided(
        &self,
        op: &'static str,
        dtype: DType,
        shape: Shape,
        strides: Strides,
        offset: usize,
    ) -> Result<Self> {
        let refuse = |what: String, hint: &'static str| {
            Error::new(ErrorKind::Shape, op, what)
                .operand(&Names::default(), self.shape())
                .hint(hint)
        };
        if shape.len() != strides.len() {
            let what = format!("{} sizes, {} strides", shape.len(), strides.len());
            return Err(refuse(what, "give one stride for each size"));
        }
        if dtype.to_real() != self.dtype().to_real() {
            let what = format!("elements are {}, not {dtype}", self.dtype());
            return Err(refuse(what, "convert them with `to`"));
        }
        let layout = Strided::new(op, shape, strides, offset)?;
        let len = self.storage.len() / dtype.size();
        let inside = match layout.reach() {
            None => offset <= len,
            Some((least, most)) => least >= 0 && most < len as isize,
        };
        if !inside {
            let (shape, strides) = (&layout.shape[..], &layout.strides[..]);
            let what =
                format!("{shape:?} by strides {strides:?} from {offset} exceeds {len} elements");
            return Err(refuse(what, "all indices must be in the buffer"));
        }
        Ok(Self {
            storage: self.storage.clone(),
            layout,
            tag: Tag::for_dtype(dtype),
        })
    }

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

    /// Returns the position of the first element in the buffer, in elements.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.layout.offset
    }

    /// Returns sizes, strides and offset.
    #[must_use]
    pub fn layout(&self) -> &Strided {
        &self.layout
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
        self.tag.dtype()
    }

    /// Returns the call that created it, if a debug build recorded it: size errors show it.
    #[must_use]
    #[inline(always)]
    pub fn created_at(&self) -> Option<&'static Location<'static>> {
        self.tag.created_at()
    }

    /// Sets the call that created it. Release builds do not keep it.
    #[inline]
    pub fn set_made(&mut self, at: &'static Location<'static>) {
        let tag = std::mem::replace(&mut self.tag, Tag::for_dtype(DType::Bool));
        self.tag = tag.made_at(Some(at));
    }

    /// Returns whether computations with it are recorded.
    #[must_use]
    #[inline(always)]
    pub fn requires_grad(&self) -> bool {
        self.tag.has_node()
    }

    /// Returns whether both have the same dtype and no node.
    #[inline(always)]
    pub(crate) fn is_plain_as(&self, other: &Self) -> bool {
        self.tag.is_plain_as(&other.tag)
    }

    /// Returns the node that computed it.
    pub(crate) fn node(&self) -> Option<&Node> {
        self.tag.node()
    }

    /// Sets the node that computed it.
    pub(crate) fn computed_by(mut self, node: NodeRef) -> Self {
        self.tag = Tag::computed(self.dtype(), node).made_at(self.created_at());
        self
    }

    /// Replaces the elements and keeps the node.
    pub(crate) fn replace(&mut self, elements: Self) {
        let tag = std::mem::replace(&mut self.tag, Tag::for_dtype(elements.dtype()));
        *self = Self { tag, ..elements };
    }

    /// Removes the node.
    pub(crate) fn forget(&mut self) {
        self.tag = Tag::for_dtype(self.dtype()).made_at(self.created_at());
    }

    /// Returns the same elements without a node.
    #[must_use]
    pub fn detach(mut self) -> Self {
        self.forget();
        self
    }

    /// Returns the device.
    #[must_use]
    pub fn device(&self) -> Device {
        self.storage.device()
    }

    /// Returns whether elements are in row-major order without gaps.
    #[must_use]
    pub fn is_contiguous(&self) -> bool {
        self.layout.is_contiguous()
    }

    /// Returns whether no other tensor shares the buffer.
    #[must_use]
    pub fn is_unique(&self) -> bool {
        self.storage.is_unique()
    }

    /// Returns whether both view the same buffer.
    #[must_use]
    pub fn shares_storage(&self, other: &Self) -> bool {
        self.storage.shares(&other.storage)
    }

    /// Returns the address of the first element, on the tensor's device; other elements follow by the strides.
    #[must_use]
    pub fn as_ptr(&self) -> *const u8 {
        // Within the buffer, or at its end if there are no elements.
        self.storage
            .as_ptr()
            .wrapping_add(self.layout.offset * self.dtype().size())
    }

    /// Like [`as_ptr`](Self::as_ptr), but `None` if it is not on the host.
    #[inline(always)]
    pub(crate) fn on_host_ptr(&self) -> Option<*const u8> {
        let base = self.storage.on_host()?;
        Some(base.wrapping_add(self.layout.offset * self.dtype().size()))
    }

    /// Like [`as_ptr`](Self::as_ptr), but for writing; `None` while the buffer is shared.
    pub(crate) fn unique_ptr(&mut self) -> Option<*mut u8> {
        let base = self.storage.unique_ptr()?;
        Some(base.wrapping_add(self.layout.offset * self.dtype().size()))
    }

    /// Returns the address of a fresh result's first element, which no other tensor shares.
    pub(crate) fn fresh_ptr(&mut self) -> *mut u8 {
        match self.unique_ptr() {
            Some(ptr) => ptr,
            None => unreachable!("a fresh result is not shared"),
        }
    }

    /// Like [`unique_ptr`](Self::unique_ptr), but `None` if it is not on the host.
    #[inline(always)]
    pub(crate) fn unique_on_host(&mut self) -> Option<*mut u8> {
        let base = self.storage.unique_on_host()?;
        Some(base.wrapping_add(self.layout.offset * self.dtype().size()))
    }

    /// Returns the number of bytes of the elements, if none is repeated.
    #[must_use]
    pub fn nbytes(&self) -> usize {
        // The product of a tensor's number of elements and element size does not wrap.
        self.numel() * self.dtype().size()
    }

    /// Returns the number of elements in the buffer from the first one on.
    pub(crate) fn room(&self) -> usize {
        (self.storage.len() / self.dtype().size()).saturating_sub(self.layout.offset)
    }

    /// Returns whether the buffer holds exactly `count` elements.
    #[inline(always)]
    pub(crate) fn fills_buffer(&self, count: usize) -> bool {
        count * self.dtype().size() == self.storage.len()
    }
}
