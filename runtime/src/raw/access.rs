//! Elements as Rust values.

use std::borrow::Cow;
use std::marker::PhantomData;

use nomina_core::{Element, Error, ErrorKind, Names, Result};

use super::Raw;
use crate::shape::Shape;

impl Raw {
    /// Checks that the elements are `T`.
    pub(crate) fn check_element<T: Element>(&self, op: &'static str) -> Result<()> {
        if self.dtype() == T::DTYPE {
            return Ok(());
        }
        let what = format!("the elements are {}, not {}", self.dtype(), T::DTYPE);
        Err(Error::new(ErrorKind::DType, op, what)
            .operand(&Names::default(), self.shape())
            .hint(format!("convert with `to` to {} first", T::DTYPE)))
    }

    /// Returns the elements as a slice, if they are `T`, on the host, and contiguous.
    #[must_use]
    pub fn as_slice<T: Element>(&self) -> Option<&[T]> {
        if self.dtype() != T::DTYPE || !self.device().is_cpu() || !self.is_contiguous() {
            return None;
        }
        // SAFETY: the tensor's elements are initialised values of `T`, all within the buffer. No one writes to the
        // buffer while `self` is borrowed: it is either shared, and so read-only, or only ours.
        Some(unsafe { std::slice::from_raw_parts(self.as_ptr().cast(), self.numel()) })
    }

    /// Checks that the tensor is on the host.
    pub(crate) fn check_host(&self, op: &'static str) -> Result<()> {
        if self.device().is_cpu() {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::Device,
            op,
            format!("the tensor is on `{}`", self.device()),
        )
        .hint("move it with `cpu` first"))
    }

    /// Returns the address of the element at an index; `None` if there is no such index.
    pub(crate) fn at(&self, index: &[usize]) -> Option<*const u8> {
        let position = self.layout.position(index)?;
        Some(
            self.storage
                .as_ptr()
                .wrapping_add(position * self.dtype().size()),
        )
    }

    /// Returns the vector that the buffer was created from, if the tensor is all of it and unshared; otherwise itself.
    #[allow(clippy::result_large_err, reason = "the tensor itself comes back")]
    pub(crate) fn into_adopted<T: Element>(self) -> Result<Vec<T>, Self> {
        let whole =
            self.layout.offset == 0 && self.is_contiguous() && self.fills_buffer(self.numel());
        if !whole || self.dtype() != T::DTYPE {
            return Err(self);
        }
        let Self {
            storage,
            layout,
            tag,
        } = self;
        storage.into_vec().map_err(|storage| Self {
            storage,
            layout,
            tag,
        })
    }
}

/// An iterator over the elements of a tensor in row-major order.
#[derive(Clone, Debug)]
pub struct Iter<'a, T> {
    raw: Cow<'a, Raw>,
    index: Shape,
    position: isize,
    left: usize,
    element: PhantomData<&'a T>,
}

impl<'a, T: Element> Iter<'a, T> {
    /// Creates the iterator; `raw` has `T`'s dtype and is on the host.
    pub(crate) fn new(raw: Cow<'a, Raw>) -> Self {
        assert!(
            raw.dtype() == T::DTYPE && raw.device().is_cpu(),
            "elements of another kind"
        );
        Self {
            index: Shape::from_elem(0, raw.rank()),
            position: raw.layout.offset as isize,
            left: raw.numel(),
            raw,
            element: PhantomData,
        }
    }
}

impl<T: Element> Iterator for Iter<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.left = self.left.checked_sub(1)?;
        // SAFETY: `position` is that of an index within the tensor, whose elements are `T`.
        let value = unsafe {
            self.raw
                .storage
                .as_ptr()
                .cast::<T>()
                .offset(self.position)
                .read()
        };
        for dim in (0..self.index.len()).rev() {
            let (size, stride) = (self.raw.layout.shape[dim], self.raw.layout.strides[dim]);
            self.index[dim] += 1;
            self.position += stride;
            if self.index[dim] < size {
                break;
            }
            self.index[dim] = 0;
            self.position -= stride * size as isize;
        }
        Some(value)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<T: Element> ExactSizeIterator for Iter<'_, T> {}
