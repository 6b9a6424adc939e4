//! Tensors without names: a shared buffer, a layout, a dtype.

mod access;
mod coo;
mod exclusive;
mod format;
#[cfg(feature = "ndarray")]
mod ndarray;
mod strided;
mod views;

#[cfg(test)]
mod tests;

use crate::Device;
use nomina_core::{DType, Element, Error, ErrorKind, Names, Result};

use crate::backend::backend;
use crate::shape::bytes;
use crate::storage::Storage;

pub use access::Iter;
pub use coo::RawCoo;
pub use exclusive::RawMut;
pub use format::strides_in;
pub use strided::Strided;

/// A tensor without names. Clones share the buffer and cost nothing.
///
/// Invariants: every index lies in the buffer, and every element of the buffer is initialised and
/// valid for the dtype.
#[derive(Clone, Debug)]
pub struct Raw {
    pub(crate) storage: Storage,
    pub(crate) layout: Strided,
    pub(crate) dtype: DType,
}

impl Raw {
    /// A row-major tensor whose elements are indeterminate: the caller writes all of them before
    /// it hands the tensor on.
    pub(crate) fn empty(
        op: &'static str,
        shape: &[usize],
        dtype: DType,
        device: Device,
    ) -> Result<Self> {
        let storage = backend(op, device)?.allocate(op, bytes(op, shape, dtype.size())?, false)?;
        Ok(Self {
            storage,
            layout: Strided::row_major(shape),
            dtype,
        })
    }

    /// A row-major tensor whose bytes are zero, which is zero, or false, in every dtype.
    ///
    /// # Errors
    /// When memory or the device is missing, or the sizes overflow.
    pub fn zeros(op: &'static str, shape: &[usize], dtype: DType, device: Device) -> Result<Self> {
        let storage = backend(op, device)?.allocate(op, bytes(op, shape, dtype.size())?, true)?;
        Ok(Self {
            storage,
            layout: Strided::row_major(shape),
            dtype,
        })
    }

    /// A row-major tensor of the elements of `data`, whose allocation it takes over.
    ///
    /// # Errors
    /// [`ErrorKind::Shape`] when the sizes do not multiply to the number of elements.
    pub fn from_vec<T: Element>(data: Vec<T>, shape: &[usize]) -> Result<Self> {
        let count = bytes("from_vec", shape, size_of::<T>())? / size_of::<T>();
        if count != data.len() {
            let what = format!("{} elements, where the sizes ask for {count}", data.len());
            return Err(Error::new(ErrorKind::Shape, "from_vec", what)
                .operand(&Names::default(), shape)
                .hint("give sizes whose product is the number of elements"));
        }
        Ok(Self {
            storage: Storage::adopt("from_vec", data)?,
            layout: Strided::row_major(shape),
            dtype: T::DTYPE,
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
        self.dtype
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
            .wrapping_add(self.layout.offset * self.dtype.size())
    }
}
