//! Tensors without names: a shared buffer, a layout, a dtype.

mod access;
mod bytes;
mod coo;
mod exclusive;
mod format;
pub(crate) mod graph;
#[cfg(feature = "mmap")]
mod map;
#[cfg(feature = "ndarray")]
mod ndarray;
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

/// A tensor without names. Clones share the buffer and cost nothing.
///
/// Invariants: every index lies in the buffer, and every element of the buffer is initialised and
/// valid for the dtype.
#[derive(Clone, Debug)]
pub struct Raw {
    storage: Storage,
    layout: Strided,
    /// Its dtype, and what computed it.
    tag: Tag,
}

impl Raw {
    /// A row-major tensor of what a new buffer holds, which is as long.
    pub(crate) fn row_major(storage: Storage, shape: &[usize], dtype: DType) -> Self {
        Self {
            storage,
            layout: Strided::row_major(shape),
            tag: Tag::of(dtype),
        }
    }

    /// A row-major tensor of the elements of `data`, whose allocation it takes over.
    ///
    /// # Errors
    /// [`ErrorKind::Shape`] when the sizes do not multiply to the number of elements.
    pub fn from_vec<T: Element>(data: Vec<T>, shape: &[usize]) -> Result<Self> {
        let count = numel("from_vec", shape)?;
        if count != data.len() {
            let what = format!("{} elements, where the sizes ask for {count}", data.len());
            return Err(Error::new(ErrorKind::Shape, "from_vec", what)
                .operand(&Names::default(), shape)
                .hint("give sizes whose product is the number of elements"));
        }
        let storage = Storage::adopt("from_vec", data)?;
        Ok(Self::row_major(storage, shape, T::DTYPE))
    }

    /// New elements with the strides of another tensor, from the start of their buffer.
    ///
    /// # Safety
    /// `like` has no gaps, and `storage` holds as many elements of `dtype`, all of them written.
    #[inline(always)]
    pub(crate) unsafe fn like(storage: Storage, dtype: DType, like: &Strided) -> Self {
        Self {
            storage,
            layout: like.at_start(),
            tag: Tag::of(dtype),
        }
    }

    /// [`Raw::like`] for a layout that owns no allocation.
    ///
    /// # Safety
    /// As there, and `like` is not [spilled](Strided::is_spilled).
    #[inline(always)]
    pub(crate) unsafe fn like_small(storage: Storage, dtype: DType, like: &Strided) -> Self {
        Self {
            storage,
            // SAFETY: the caller's promise.
            layout: unsafe { like.copied_at(0) },
            tag: Tag::of(dtype),
        }
    }

    /// The same buffer with any sizes, strides and offset, in elements of `dtype`, which is that of
    /// the tensor or has the same parts. Every layout that is no view of another one is checked here.
    ///
    /// # Errors
    /// [`ErrorKind::Shape`] when it would reach outside of the buffer, or the sizes are none that a
    /// tensor may have.
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
            let what = format!("elements of {} are none of {dtype}", self.dtype());
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
            let what = format!(
                "{shape:?} by strides {strides:?} from {offset} on reaches outside of {len} elements"
            );
            return Err(refuse(what, "every index stays within the buffer"));
        }
        Ok(Self {
            storage: self.storage.clone(),
            layout,
            tag: Tag::of(dtype),
        })
    }

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

    /// The position of the first element in the buffer, in elements.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.layout.offset
    }

    /// Sizes, strides and offset.
    #[must_use]
    pub fn layout(&self) -> &Strided {
        &self.layout
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
        self.tag.dtype()
    }

    /// The call that made it, where a debug build was told: errors of sizes show it.
    #[must_use]
    #[inline(always)]
    pub fn made(&self) -> Option<&'static Location<'static>> {
        self.tag.made()
    }

    /// Says which call made it. Release builds forget that.
    #[inline]
    pub fn set_made(&mut self, at: &'static Location<'static>) {
        let tag = std::mem::replace(&mut self.tag, Tag::of(DType::Bool));
        self.tag = tag.made_at(Some(at));
    }

    /// Whether what is computed of it is recorded.
    #[must_use]
    #[inline(always)]
    pub fn requires_grad(&self) -> bool {
        self.tag.has_node()
    }

    /// Whether both are of one dtype, and no node computed either.
    #[inline(always)]
    pub(crate) fn is_plain_as(&self, other: &Self) -> bool {
        self.tag.is_plain_as(&other.tag)
    }

    /// The node that it came from.
    pub(crate) fn node(&self) -> Option<&Node> {
        self.tag.node()
    }

    /// The same elements as what a node computed.
    pub(crate) fn computed_by(mut self, node: NodeRef) -> Self {
        self.tag = Tag::computed(self.dtype(), node).made_at(self.made());
        self
    }

    /// Other elements in the place of these, computed by the same node.
    pub(crate) fn replace(&mut self, elements: Self) {
        let tag = std::mem::replace(&mut self.tag, Tag::of(elements.dtype()));
        *self = Self { tag, ..elements };
    }

    /// From now on nothing computed it.
    pub(crate) fn forget(&mut self) {
        self.tag = Tag::of(self.dtype()).made_at(self.made());
    }

    /// The same elements, which nothing computed.
    #[must_use]
    pub fn detach(mut self) -> Self {
        self.forget();
        self
    }

    /// The device.
    #[must_use]
    pub fn device(&self) -> Device {
        self.storage.device()
    }

    /// Whether elements lie in row-major order without gaps.
    #[must_use]
    pub fn is_contiguous(&self) -> bool {
        self.layout.is_contiguous()
    }

    /// Whether no other tensor shares the buffer.
    #[must_use]
    pub fn is_unique(&self) -> bool {
        self.storage.is_unique()
    }

    /// Whether both view the same buffer.
    #[must_use]
    pub fn shares_storage(&self, other: &Self) -> bool {
        self.storage.shares(&other.storage)
    }

    /// The address of the first element, on the tensor's device; elements follow by the strides.
    #[must_use]
    pub fn as_ptr(&self) -> *const u8 {
        // Within the buffer, or at its end when there are no elements.
        self.storage
            .as_ptr()
            .wrapping_add(self.layout.offset * self.dtype().size())
    }

    /// The same where it is on the host.
    #[inline(always)]
    pub(crate) fn on_host_ptr(&self) -> Option<*const u8> {
        let base = self.storage.on_host()?;
        Some(base.wrapping_add(self.layout.offset * self.dtype().size()))
    }

    /// The same for writing; `None` while the buffer is shared.
    pub(crate) fn unique_ptr(&mut self) -> Option<*mut u8> {
        let base = self.storage.unique_ptr()?;
        Some(base.wrapping_add(self.layout.offset * self.dtype().size()))
    }

    /// The same where it is on the host.
    #[inline(always)]
    pub(crate) fn unique_on_host(&mut self) -> Option<*mut u8> {
        let base = self.storage.unique_on_host()?;
        Some(base.wrapping_add(self.layout.offset * self.dtype().size()))
    }

    /// The number of bytes that the elements take, where none is repeated.
    #[must_use]
    pub fn nbytes(&self) -> usize {
        // No product of a tensor's elements and the size of one wraps.
        self.numel() * self.dtype().size()
    }

    /// How many elements the buffer holds from the first one on.
    pub(crate) fn room(&self) -> usize {
        (self.storage.len() / self.dtype().size()).saturating_sub(self.layout.offset)
    }

    /// Whether the buffer holds nothing but so many elements.
    #[inline(always)]
    pub(crate) fn fills_buffer(&self, count: usize) -> bool {
        count * self.dtype().size() == self.storage.len()
    }
}
