//! Elements as Rust values, on any device.

use std::borrow::Cow;
use std::mem::MaybeUninit;

use nomina_core::{Element, Error, ErrorKind, Names, Result, Scalar};

use super::backend::backend;
use super::{contiguous, duplicate, to_device};
use crate::Device;
use crate::memory::scratch::{collect, copied};
use crate::raw::graph::{is_grad_enabled, no_grad};
use crate::raw::{Iter, Raw, RawMut};
use crate::shape::Shape;

impl Raw {
    /// Returns the elements as a mutable slice. They are copied if they are shared or not contiguous.
    ///
    /// # Errors
    /// If the dtype differs, the tensor is not on the host, or memory for a copy is missing.
    pub fn as_mut_slice<T: Element>(&mut self) -> Result<&mut [T]> {
        self.check_element::<T>("as_mut_slice")?;
        self.check_host("as_mut_slice")?;
        if self.requires_grad() && is_grad_enabled() {
            return Err(by_hand("as_mut_slice", self.shape()));
        }
        if !self.is_contiguous() {
            let copy = no_grad(|| contiguous(self))?;
            self.replace(copy);
        }
        let count = self.numel();
        let mut exclusive = self.as_mut()?;
        let first = exclusive.as_mut_ptr().cast::<T>();
        // SAFETY: contiguous elements of `T` in a buffer that only this tensor owns, borrowed mutably for the lifetime
        // of the slice.
        Ok(unsafe { std::slice::from_raw_parts_mut(first, count) })
    }

    /// Returns the elements in row-major order.
    ///
    /// # Errors
    /// If the dtype differs, or memory is missing.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        self.check_element::<T>("to_vec")?;
        let host = self.on_host("to_vec")?;
        let copied = match host.as_slice() {
            Some(slice) => copied(slice),
            None => collect(host.iter()?),
        };
        copied.map_err(|error| error.in_op("to_vec"))
    }

    /// Returns the elements in row-major order, without a copy if they came from a vector that nothing else shares.
    ///
    /// # Errors
    /// If the dtype differs, or memory for a copy is missing.
    pub fn into_vec<T: Element>(self) -> Result<Vec<T>> {
        self.check_element::<T>("into_vec")?;
        self.into_adopted().or_else(|raw| raw.to_vec())
    }

    /// Returns the element at an index. From a device, only this element is copied.
    ///
    /// # Errors
    /// If the dtype differs, the index is out of range, or the device fails.
    pub fn get<T: Element>(&self, index: &[usize]) -> Result<T> {
        self.check_element::<T>("get")?;
        let at = self.at(index).ok_or_else(|| {
            let what = format!("index {index:?} is out of range");
            Error::new(ErrorKind::Index, "get", what)
                .operand(&Names::default(), self.shape())
                .hint("give one index per dim, each smaller than its size")
        })?;
        let at = at.cast::<T>();
        if self.device().is_cpu() {
            // SAFETY: a position within the tensor, whose elements are `T`.
            return Ok(unsafe { at.read() });
        }
        let mut value = MaybeUninit::<T>::uninit();
        let (to, bytes) = (value.as_mut_ptr().cast(), size_of::<T>());
        // SAFETY: a position within the tensor, whose elements are `T` and on the host.
        unsafe { backend("get", self.device())?.download("get", to, at.cast(), bytes)? };
        // SAFETY: all its bytes are those of one element.
        Ok(unsafe { value.assume_init() })
    }

    /// Returns the only element as a number of its category. Waits for a device.
    ///
    /// # Errors
    /// If there is not exactly one element; also errors that the device raised meanwhile.
    pub fn item(&self) -> Result<Scalar> {
        if self.numel() != 1 {
            let what = format!("expected one element, found {}", self.numel());
            return Err(Error::new(ErrorKind::Shape, "item", what)
                .operand(&Names::default(), self.shape())
                .hint("select one with `get` or `select`"));
        }
        let first = Shape::from_elem(0, self.rank());
        crate::dispatch::with_dtype!(self.dtype(), T => {
            self.get::<T>(&first).map(T::to_scalar).map_err(|error| error.in_op("item"))
        })
    }

    /// Iterates over the elements in row-major order as numbers of their category, for any dtype. Elements on a device
    /// are copied to the host first.
    ///
    /// # Panics
    /// If the device fails or memory for the copy is missing; [`Raw::try_scalars`] returns an error instead.
    #[track_caller]
    pub fn scalars(&self) -> Box<dyn Iterator<Item = Scalar> + '_> {
        match self.try_scalars() {
            Ok(all) => all,
            Err(error) => panic!("{error}"),
        }
    }

    /// Iterates over the elements in row-major order as numbers of their category, for any dtype.
    ///
    /// # Errors
    /// If the device fails, or memory for a copy on the host is missing.
    pub fn try_scalars(&self) -> Result<Box<dyn Iterator<Item = Scalar> + '_>> {
        fn each<'a, T: Element>(raw: Cow<'a, Raw>) -> Box<dyn Iterator<Item = Scalar> + 'a> {
            Box::new(Iter::<T>::new(raw).map(T::to_scalar))
        }
        let host = self.on_host("scalars")?;
        Ok(crate::dispatch::with_dtype!(self.dtype(), T => each::<T>(host)))
    }

    /// Iterates over the elements in row-major order. Elements on a device are copied to the host first.
    ///
    /// # Errors
    /// If the dtype differs, the device fails, or memory for the copy is missing.
    pub fn iter<T: Element>(&self) -> Result<Iter<'_, T>> {
        self.check_element::<T>("iter")?;
        Ok(Iter::new(self.on_host("iter")?))
    }

    /// Returns the tensor if it is on the host, else a copy on the host, made after all work queued on the device.
    pub(crate) fn on_host(&self, op: &'static str) -> Result<Cow<'_, Self>> {
        if self.device().is_cpu() {
            return Ok(Cow::Borrowed(self));
        }
        let copy = no_grad(|| to_device(self, Device::Cpu)).map_err(|error| error.in_op(op))?;
        Ok(Cow::Owned(copy))
    }

    /// Returns exclusive access to all elements. They are copied first if the buffer is shared or two indices alias.
    ///
    /// # Errors
    /// If memory for the copy is missing.
    pub fn as_mut(&mut self) -> Result<RawMut<'_>> {
        // An early return would extend the borrow to the end of the function.
        if self.exclusive().is_none() {
            let copy = no_grad(|| duplicate(self))?;
            self.replace(copy);
        }
        // A copy is never shared.
        let shared = || Error::new(ErrorKind::Memory, "as_mut", "the buffer is shared");
        self.exclusive().ok_or_else(shared)
    }
}

#[cold]
fn by_hand(op: &'static str, shape: &[usize]) -> Error {
    let what = "writes to elements of a tensor that requires a gradient";
    Error::new(ErrorKind::Gradient, op, what)
        .operand(&Names::default(), shape)
        .hint("do it within `no_grad`, or `detach` the tensor")
}

impl RawMut<'_> {
    /// Writes one element.
    ///
    /// # Errors
    /// If the dtype differs, the index is out of range, or the device fails.
    pub fn set<T: Element>(&mut self, index: &[usize], value: T) -> Result<()> {
        let shape = Shape::from_slice(self.shape());
        let error = |kind, what| Error::new(kind, "set", what).operand(&Names::default(), &shape);
        if self.records([]) {
            return Err(by_hand("set", &shape));
        }
        if self.dtype() != T::DTYPE {
            let what = format!("the elements are {}, not {}", self.dtype(), T::DTYPE);
            return Err(error(ErrorKind::DType, what).hint("write a number of that dtype"));
        }
        let Some(at) = self.at(index) else {
            return Err(
                error(ErrorKind::Index, format!("index {index:?} is out of range"))
                    .hint("give one index per dim, each smaller than its size"),
            );
        };
        let at = at.cast::<T>();
        if self.device().is_cpu() {
            // SAFETY: a position within the region, whose elements are `T`.
            unsafe { at.write(value) };
            return Ok(());
        }
        let (from, bytes) = ((&raw const value).cast(), size_of::<T>());
        // SAFETY: as above, on the device.
        unsafe { backend("set", self.device())?.upload("set", at.cast(), from, bytes) }
    }
}
