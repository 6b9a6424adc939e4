//! Elements as Rust values.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

use nomina_core::{Element, Error, ErrorKind, Names, Result, Scalar};

use super::Raw;
use crate::Device;
use crate::backend::backend;
use crate::call;
use crate::memory::scratch::{collect, copied};
use crate::shape::Shape;

impl Raw {
    fn check_element<T: Element>(&self, op: &'static str) -> Result<()> {
        if self.dtype == T::DTYPE {
            return Ok(());
        }
        let what = format!("the elements are {}, not {}", self.dtype, T::DTYPE);
        Err(Error::new(ErrorKind::DType, op, what)
            .operand(&Names::default(), self.shape())
            .hint(format!("convert with `to` to {} first", T::DTYPE)))
    }

    /// The elements as a slice, when they are `T`, on the host, and contiguous.
    #[must_use]
    pub fn as_slice<T: Element>(&self) -> Option<&[T]> {
        if self.dtype != T::DTYPE || !self.device().is_cpu() || !self.is_contiguous() {
            return None;
        }
        // SAFETY: the tensor's elements are initialised values of `T`, all within the buffer, and
        // nobody writes to the buffer while `self` is borrowed, since it then is shared or ours.
        Some(unsafe { std::slice::from_raw_parts(self.as_ptr().cast(), self.numel()) })
    }

    /// The elements as a slice to write to. They are copied when shared or not contiguous.
    ///
    /// # Errors
    /// When the dtype is another, the tensor is not on the host, or memory for a copy is missing.
    pub fn as_mut_slice<T: Element>(&mut self) -> Result<&mut [T]> {
        self.check_element::<T>("as_mut_slice")?;
        self.check_host("as_mut_slice")?;
        if !self.is_contiguous() {
            *self = call::contiguous(self)?;
        }
        let count = self.numel();
        let mut exclusive = self.as_mut()?;
        let first = exclusive.as_mut_ptr().cast::<T>();
        // SAFETY: contiguous elements of `T` in a buffer that only this tensor owns, borrowed
        // mutably for as long as the slice lives.
        Ok(unsafe { std::slice::from_raw_parts_mut(first, count) })
    }

    /// The elements in row-major order.
    ///
    /// # Errors
    /// When the dtype is another, or memory is missing.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        self.check_element::<T>("to_vec")?;
        let host = self.on_host("to_vec")?;
        let copied = match host.as_slice() {
            Some(slice) => copied(slice),
            None => collect(host.iter()?),
        };
        copied.map_err(|error| error.in_op("to_vec"))
    }

    /// The elements in row-major order; without a copy when they came from a vector that nothing
    /// else shares.
    ///
    /// # Errors
    /// When the dtype is another, or memory for a copy is missing.
    pub fn into_vec<T: Element>(self) -> Result<Vec<T>> {
        self.check_element::<T>("into_vec")?;
        let whole = self.layout.offset == 0
            && self.is_contiguous()
            && self.numel() * size_of::<T>() == self.storage.len();
        if !whole {
            return self.to_vec();
        }
        let Self {
            storage,
            layout,
            dtype,
        } = self;
        storage.into_vec().or_else(|storage| {
            Self {
                storage,
                layout,
                dtype,
            }
            .to_vec()
        })
    }

    /// The element at an index. From a device it alone is copied.
    ///
    /// # Errors
    /// When the dtype is another, the index is out of range, or the device fails.
    pub fn get<T: Element>(&self, index: &[usize]) -> Result<T> {
        self.check_element::<T>("get")?;
        let position = self.layout.position(index).ok_or_else(|| {
            Error::new(
                ErrorKind::Index,
                "get",
                format!("index {index:?} is out of range"),
            )
            .operand(&Names::default(), self.shape())
            .hint("give one index per dim, each smaller than its size")
        })?;
        let at = self.storage.as_ptr().cast::<T>().wrapping_add(position);
        if self.device().is_cpu() {
            // SAFETY: a position within the tensor, whose elements are `T`.
            return Ok(unsafe { at.read() });
        }
        let mut value = MaybeUninit::<T>::uninit();
        let (to, bytes) = (value.as_mut_ptr().cast(), size_of::<T>());
        // SAFETY: a position within the tensor, whose elements are `T`, and one of the host.
        unsafe { backend("get", self.device())?.download("get", to, at.cast(), bytes)? };
        // SAFETY: all its bytes are those of an element.
        Ok(unsafe { value.assume_init() })
    }

    /// The only element, as a number of its category. What is on a device is waited for.
    ///
    /// # Errors
    /// When there are more elements, or none; what went wrong on the device meanwhile.
    pub fn item(&self) -> Result<Scalar> {
        if self.numel() != 1 {
            let what = format!("a tensor of {} elements is no number", self.numel());
            return Err(Error::new(ErrorKind::Shape, "item", what)
                .operand(&Names::default(), self.shape())
                .hint("take one element with `get` or `select`"));
        }
        let first = Shape::from_elem(0, self.rank());
        crate::dispatch::with_dtype!(self.dtype, T => {
            self.get::<T>(&first).map(T::to_scalar).map_err(|error| error.in_op("item"))
        })
    }

    /// The elements in row-major order, as numbers of their category, whatever the dtype. Those
    /// on a device are copied to the host first.
    ///
    /// # Panics
    /// When the device fails, or memory for the copy is missing; [`Raw::try_scalars`] says so in
    /// an error.
    #[track_caller]
    pub fn scalars(&self) -> Box<dyn Iterator<Item = Scalar> + '_> {
        match self.try_scalars() {
            Ok(all) => all,
            Err(error) => panic!("{error}"),
        }
    }

    /// The elements in row-major order, as numbers of their category, whatever the dtype.
    ///
    /// # Errors
    /// When the tensor's device fails, or memory for a copy on the host is missing.
    pub fn try_scalars(&self) -> Result<Box<dyn Iterator<Item = Scalar> + '_>> {
        fn each<'a, T: Element>(raw: Cow<'a, Raw>) -> Box<dyn Iterator<Item = Scalar> + 'a> {
            Box::new(Walk::<T>::new(raw).map(T::to_scalar))
        }
        let host = self.on_host("scalars")?;
        Ok(crate::dispatch::with_dtype!(self.dtype, T => each::<T>(host)))
    }

    /// The elements in row-major order. Those on a device are copied to the host first.
    ///
    /// # Errors
    /// When the dtype is another; when the device fails, or memory for the copy is missing.
    pub fn iter<T: Element>(&self) -> Result<Iter<'_, T>> {
        self.check_element::<T>("iter")?;
        Ok(Walk::new(self.on_host("iter")?))
    }

    /// Itself where it is on the host, else a copy there, made when all that the device was asked
    /// for is done.
    pub(crate) fn on_host(&self, op: &'static str) -> Result<Cow<'_, Self>> {
        if self.device().is_cpu() {
            return Ok(Cow::Borrowed(self));
        }
        let copy = call::to_device(self, Device::Cpu).map_err(|error| error.in_op(op))?;
        Ok(Cow::Owned(copy))
    }

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
}

/// Elements of a tensor in row-major order.
pub type Iter<'a, T> = Walk<'a, T>;

/// A walk over strides.
#[derive(Clone, Debug)]
pub struct Walk<'a, T> {
    raw: Cow<'a, Raw>,
    index: Shape,
    position: isize,
    left: usize,
    element: PhantomData<&'a T>,
}

impl<'a, T: Element> Walk<'a, T> {
    /// The dtype of `raw` is `T`'s and its elements are on the host.
    fn new(raw: Cow<'a, Raw>) -> Self {
        assert!(
            raw.dtype == T::DTYPE && raw.device().is_cpu(),
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

impl<T: Element> Iterator for Walk<'_, T> {
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

impl<T: Element> ExactSizeIterator for Walk<'_, T> {}
