//! Writing into a tensor, converting and moving.

use crate::Device;
use nomina_core::op::Op;
use nomina_core::{DType, Element, Error, ErrorKind, MemoryFormat, Result, Scalar, rule};

use super::family::in_place_as;
use super::{DynTensor, Operand, about};
use crate::call;

impl DynTensor {
    /// Copies the elements of `src`, broadcast and converted, into `self`. `src` may be on another
    /// device.
    ///
    /// # Errors
    /// If names do not unify with those of `self`, or sizes do not broadcast to those of `self`.
    pub fn copy_(&mut self, src: &Self) -> Result<&mut Self> {
        let names = {
            let fail = |e| about(e, &[self, src]);
            let computed = rule::unify("copy", &self.names, &src.names).map_err(fail)?;
            rule::broadcast_into("copy", self.shape(), src.shape()).map_err(fail)?;
            rule::in_place("copy", &self.names, &computed).map_err(fail)?
        };
        in_place_as(self, names, &[src], |dest| {
            call::copy_across(dest, &src.raw)
        })?;
        Ok(self)
    }

    /// Fills with one number, or the number in a zero-dim tensor.
    ///
    /// # Errors
    /// [`ErrorKind::Rank`] if `value` has dims.
    pub fn fill_<'a>(&mut self, value: impl Into<Operand<'a>>) -> Result<&mut Self> {
        let value = self.as_own(Op::Fill, value.into())?;
        let names = self.names.clone();
        in_place_as(self, names, &[], |dest| value.fill(dest))?;
        Ok(self)
    }

    /// Converts to another dtype; returns the tensor itself if it already has it.
    ///
    /// # Errors
    /// If memory runs out.
    pub fn to_dtype(&self, dtype: DType) -> Result<Self> {
        let raw = call::to_dtype(&self.raw, dtype).map_err(|e| about(e, &[self]))?;
        Ok(Self::new(raw, self.names.clone()))
    }

    /// Converts to the dtype of `T`: `x.to::<f64>()`.
    ///
    /// # Errors
    /// If memory runs out.
    pub fn to<T: Element>(&self) -> Result<Self> {
        self.to_dtype(T::DTYPE)
    }

    /// Returns the tensor on another device; the tensor itself if it is already there.
    ///
    /// # Errors
    /// [`ErrorKind::Device`] if the device cannot be used.
    pub fn to_device(&self, device: Device) -> Result<Self> {
        let raw = call::to_device(&self.raw, device).map_err(|e| about(e, &[self]))?;
        Ok(Self::new(raw, self.names.clone()))
    }

    /// Returns the tensor on the host.
    ///
    /// # Errors
    /// If memory runs out.
    pub fn cpu(&self) -> Result<Self> {
        self.to_device(Device::Cpu)
    }

    /// Returns the tensor itself if it is row-major without gaps, else a row-major copy.
    ///
    /// # Errors
    /// If memory runs out.
    pub fn contiguous(&self) -> Result<Self> {
        let raw = call::contiguous(&self.raw).map_err(|e| about(e, &[self]))?;
        Ok(Self::new(raw, self.names.clone()))
    }

    /// Returns the tensor itself if its elements are in a memory format without gaps, else a copy
    /// in that format: `x.contiguous_with(MemoryFormat::ChannelsLast)`.
    ///
    /// # Errors
    /// [`ErrorKind::Rank`] if the format is for another number of dims.
    pub fn contiguous_with(&self, format: MemoryFormat) -> Result<Self> {
        let raw = call::contiguous_in(&self.raw, format).map_err(|e| about(e, &[self]))?;
        Ok(Self::new(raw, self.names.clone()))
    }

    /// Returns a dense tensor of the same elements in a memory format; [`MemoryFormat::Preserve`]
    /// keeps the order of dims. Elements are shared if they already have this layout.
    ///
    /// # Errors
    /// [`ErrorKind::Rank`] if the format is for another number of dims.
    pub fn clone_with(&self, format: MemoryFormat) -> Result<Self> {
        let raw = call::clone_in(&self.raw, format).map_err(|e| about(e, &[self]))?;
        Ok(Self::new(raw, self.names.clone()))
    }

    /// Converts to another dtype and memory format; returns the tensor itself if it already has
    /// both.
    ///
    /// # Errors
    /// [`ErrorKind::Rank`] if the format is for another number of dims.
    pub fn to_dtype_with(&self, dtype: DType, format: MemoryFormat) -> Result<Self> {
        let raw = call::to_in(&self.raw, dtype, format).map_err(|e| about(e, &[self]))?;
        Ok(Self::new(raw, self.names.clone()))
    }

    /// Returns the only element as a number.
    ///
    /// # Errors
    /// [`ErrorKind::Shape`] if there is not exactly one.
    pub fn item(&self) -> Result<Scalar> {
        if self.numel() != 1 {
            let what = format!("{} elements, not one", self.numel());
            return Err(about(Error::new(ErrorKind::Shape, "item", what), &[self])
                .hint("select one first, or read all with `to_vec`"));
        }
        self.raw.item().map_err(|e| about(e, &[self]))
    }

    /// Copies the elements to a vector in row-major order.
    ///
    /// # Errors
    /// [`ErrorKind::DType`] if the elements are not of type `T`.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        self.raw.to_vec().map_err(|e| about(e, &[self]))
    }
}
