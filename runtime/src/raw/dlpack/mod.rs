//! DLPack: tensors of other libraries in the same process, such as NumPy and PyTorch, both ways without a copy.
//!
//! A [`Capsule`] owns a tensor in the form of DLPack. [`DynTensor::into_dlpack`](crate::DynTensor::into_dlpack) makes
//! one, and [`DynTensor::from_dlpack`](crate::DynTensor::from_dlpack) takes one; Python's protocol has a pointer to it in
//! a `PyCapsule` named `dltensor_versioned` ([`DLManagedTensorVersioned`]) or `dltensor` ([`DLManagedTensor`]).
//!
//! **Imported** elements may have other owners, so nomina never writes to them: it copies them first, like those of a
//! clone. **Exported** elements of a tensor that owns its buffer alone may be written to by the importer. If other
//! tensors share the buffer, the capsule is marked read-only; the older struct has no such mark, and then has a copy.

mod abi;
#[cfg(test)]
mod tests;

use std::ffi::c_void;
use std::ptr::{NonNull, null_mut};
use std::sync::Arc;

use nomina_core::{DType, Error, ErrorKind, MAX_DIMS, Names, Result};

use super::{Raw, check_elements};
use crate::shape::{Shape, Strides, numel, row_major};
use crate::storage::Storage;

use abi::{CPU, PINNED, READ_ONLY, VERSION};
pub use abi::{
    DLDataType, DLDevice, DLManagedTensor, DLManagedTensorVersioned, DLPackVersion, DLTensor,
};

/// A struct of DLPack that owns its tensor: [`DLManagedTensorVersioned`], or the older [`DLManagedTensor`].
pub trait Managed: Sized + 'static + sealed::Struct {}

impl Managed for DLManagedTensor {}
impl Managed for DLManagedTensorVersioned {}

/// A tensor in the form of DLPack, freed when this is dropped.
#[derive(Debug)]
pub struct Capsule<M: Managed = DLManagedTensorVersioned>(NonNull<M>);

// SAFETY: `from_raw` demands that the struct may be used and freed by any thread, and those of nomina may.
unsafe impl<M: Managed> Send for Capsule<M> {}
// SAFETY: as above; nothing is written through a shared reference.
unsafe impl<M: Managed> Sync for Capsule<M> {}

impl<M: Managed> Capsule<M> {
    /// Takes over a tensor from another library.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if the pointer is null.
    ///
    /// # Safety
    /// The pointer is null, or that of a struct as DLPack describes it, which no one else uses or frees. Any thread may
    /// free it. Until then, the memory from its first to its last element is initialised, and no one writes to it:
    /// neither through another tensor nor from another thread.
    pub unsafe fn from_raw(tensor: *mut M) -> Result<Self> {
        let null = || Error::new(ErrorKind::Argument, "from_dlpack", "the pointer is null");
        NonNull::new(tensor).map(Self).ok_or_else(null)
    }

    /// Returns the struct, which the receiver frees by its `deleter`.
    #[must_use]
    pub fn into_raw(self) -> *mut M {
        std::mem::ManuallyDrop::new(self).0.as_ptr()
    }

    /// Returns the struct.
    #[must_use]
    pub fn get(&self) -> &M {
        // SAFETY: `from_raw` demands a struct that lives until it is freed, which only `drop` does.
        unsafe { self.0.as_ref() }
    }
}

impl<M: Managed> Drop for Capsule<M> {
    fn drop(&mut self) {
        if let Some(deleter) = self.get().deleter() {
            // SAFETY: the struct's own function, called once: this owns the struct.
            unsafe { deleter(self.0.as_ptr()) };
        }
    }
}

mod sealed {
    use super::*;

    /// The fields that the structs have in common.
    pub trait Struct: Sized {
        /// Whether the struct can say that it is read-only.
        const HAS_FLAGS: bool;

        fn new(tensor: DLTensor, context: *mut c_void, read_only: bool) -> Self;

        fn set_deleter(&mut self, deleter: unsafe extern "C" fn(*mut Self));

        fn deleter(&self) -> Option<unsafe extern "C" fn(*mut Self)>;

        /// Returns the tensor, or the struct's version if it is not understood.
        fn tensor(&self) -> Result<&DLTensor, DLPackVersion>;

        fn context(&self) -> *mut c_void;
    }

    impl Struct for DLManagedTensor {
        const HAS_FLAGS: bool = false;

        fn new(dl_tensor: DLTensor, manager_ctx: *mut c_void, _: bool) -> Self {
            Self {
                dl_tensor,
                manager_ctx,
                deleter: None,
            }
        }

        fn set_deleter(&mut self, deleter: unsafe extern "C" fn(*mut Self)) {
            self.deleter = Some(deleter);
        }

        fn deleter(&self) -> Option<unsafe extern "C" fn(*mut Self)> {
            self.deleter
        }

        fn tensor(&self) -> Result<&DLTensor, DLPackVersion> {
            Ok(&self.dl_tensor)
        }

        fn context(&self) -> *mut c_void {
            self.manager_ctx
        }
    }

    impl Struct for DLManagedTensorVersioned {
        const HAS_FLAGS: bool = true;

        fn new(dl_tensor: DLTensor, manager_ctx: *mut c_void, read_only: bool) -> Self {
            Self {
                version: VERSION,
                manager_ctx,
                deleter: None,
                flags: if read_only { READ_ONLY } else { 0 },
                dl_tensor,
            }
        }

        fn set_deleter(&mut self, deleter: unsafe extern "C" fn(*mut Self)) {
            self.deleter = Some(deleter);
        }

        fn deleter(&self) -> Option<unsafe extern "C" fn(*mut Self)> {
            self.deleter
        }

        fn tensor(&self) -> Result<&DLTensor, DLPackVersion> {
            if self.version.major == VERSION.major {
                Ok(&self.dl_tensor)
            } else {
                Err(self.version)
            }
        }

        fn context(&self) -> *mut c_void {
            self.manager_ctx
        }
    }
}

/// A tensor of nomina, and the lists that its struct points to.
struct Exported {
    _raw: Raw,
    shape: Vec<i64>,
    strides: Vec<i64>,
}

impl Raw {
    /// Converts to the form of DLPack: see [`DynTensor::into_dlpack`](crate::DynTensor::into_dlpack). The elements of a
    /// shared tensor are copied by `duplicate` if the struct cannot say that it is read-only.
    ///
    /// # Errors
    /// [`ErrorKind::Device`] if the tensor is not on the host, [`ErrorKind::Gradient`] if it is recorded,
    /// [`ErrorKind::Memory`] if there is no memory for a copy.
    pub(crate) fn into_dlpack<M: Managed>(
        mut self,
        duplicate: impl FnOnce(&Self) -> Result<Self>,
    ) -> Result<Capsule<M>> {
        let op = "into_dlpack";
        self.check_host(op)?;
        if self.requires_grad() {
            let what =
                "the tensor is recorded, and other libraries do not know how it was computed";
            return Err(Error::new(ErrorKind::Gradient, op, what).hint("`detach` it first"));
        }
        if !M::HAS_FLAGS && !self.is_unique() {
            self = duplicate(&self)?;
        }
        let read_only = !self.is_unique();
        let data = if self.numel() == 0 {
            null_mut()
        } else {
            self.as_ptr().cast_mut().cast()
        };
        let ndim = self.rank() as i32;
        let dtype = DLDataType::from_dtype(self.dtype());
        let mut exported = Box::new(Exported {
            shape: self.shape().iter().map(|&size| size as i64).collect(),
            strides: self.strides().iter().map(|&stride| stride as i64).collect(),
            _raw: self,
        });
        let tensor = DLTensor {
            data,
            device: DLDevice {
                device_type: CPU,
                device_id: 0,
            },
            ndim,
            dtype,
            shape: exported.shape.as_mut_ptr(),
            strides: exported.strides.as_mut_ptr(),
            byte_offset: 0,
        };
        let context = Box::into_raw(exported).cast();
        let mut managed = Box::new(M::new(tensor, context, read_only));
        managed.set_deleter(free::<M>);
        Ok(Capsule(NonNull::from(Box::leak(managed))))
    }

    /// Views the elements of a capsule: see [`DynTensor::from_dlpack`](crate::DynTensor::from_dlpack).
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if the version, a size, a stride or an address is none that DLPack allows;
    /// [`ErrorKind::DType`] for elements that no tensor has; [`ErrorKind::Device`] if they are not on the host;
    /// [`ErrorKind::Rank`] or [`ErrorKind::Shape`] if no tensor has these sizes; [`ErrorKind::Parse`] if a bool is
    /// neither 0 nor 1.
    pub fn from_dlpack<M: Managed>(capsule: Capsule<M>) -> Result<Self> {
        let op = "from_dlpack";
        let tensor = match capsule.get().tensor() {
            Ok(tensor) => *tensor,
            Err(DLPackVersion { major, minor }) => {
                let what = format!("version {major}.{minor} of DLPack");
                return Err(Error::new(ErrorKind::Argument, op, what)
                    .hint(format!("ask for version {}.x", VERSION.major)));
            }
        };
        let dtype = require_elements(op, &tensor)?;
        // SAFETY: the capsule's struct points to `ndim` sizes and strides that live as long as it.
        let (shape, strides) = unsafe { lists(op, &tensor)? };
        let refuse = |what: &str| {
            Error::new(ErrorKind::Argument, op, what).operand(&Names::default(), &shape)
        };
        if numel(op, &shape)? == 0 {
            return Self::empty(op, &shape, dtype, crate::Device::Cpu);
        }
        let outside = || refuse("the strides reach outside of memory");
        let (back, bytes) = reach(&shape, &strides, dtype).ok_or_else(outside)?;
        let first = usize::try_from(tensor.byte_offset)
            .ok()
            .and_then(|offset| tensor.data.addr().checked_add(offset))
            .and_then(|first| first.checked_sub(back.checked_mul(dtype.size())?))
            .filter(|first| first.checked_add(bytes).is_some())
            .ok_or_else(outside)?;
        if tensor.data.is_null() {
            return Err(refuse("the elements have no address"));
        }
        if !first.is_multiple_of(dtype.to_real().size()) {
            let what = format!("the address {first:#x} is not aligned for {dtype}");
            return Err(refuse(&what).hint("copy the elements before the export"));
        }
        let first = NonNull::new(tensor.data.cast::<u8>().with_addr(first)).ok_or_else(outside)?;
        // SAFETY: `from_raw` demands that the memory from the first to the last element is initialised, and lives and
        // does not change as long as the capsule.
        let memory = unsafe { std::slice::from_raw_parts(first.as_ptr(), bytes) };
        check_elements(op, dtype, memory)?;
        // SAFETY: as above; the storage keeps the capsule. Bools are all valid.
        let storage = unsafe { Storage::borrowed(op, first, bytes, Arc::new(capsule))? };
        let all = Self::row_major(storage, &[bytes / dtype.size()], dtype);
        all.as_strided(op, dtype, shape, strides, back)
    }
}

/// Returns the dtype of elements that are on the host.
fn require_elements(op: &'static str, tensor: &DLTensor) -> Result<DType> {
    let device = tensor.device.device_type;
    if ![CPU, PINNED].contains(&device) {
        let what = format!("elements on a device of type {device}");
        return Err(Error::new(ErrorKind::Device, op, what).hint("copy them to the host first"));
    }
    tensor.dtype.to_dtype().ok_or_else(|| {
        let DLDataType { code, bits, lanes } = tensor.dtype;
        let what = format!("elements of code {code} with {bits} bits and {lanes} lanes");
        Error::new(ErrorKind::DType, op, what).hint("convert them before the export")
    })
}

/// Copies sizes and strides.
///
/// # Safety
/// The pointers are null or those of `ndim` numbers.
unsafe fn lists(op: &'static str, tensor: &DLTensor) -> Result<(Shape, Strides)> {
    let ndim = usize::try_from(tensor.ndim)
        .ok()
        .filter(|&ndim| ndim <= MAX_DIMS);
    let Some(ndim) = ndim else {
        let what = format!("{} dims, and tensors have at most {MAX_DIMS}", tensor.ndim);
        return Err(Error::new(ErrorKind::Rank, op, what));
    };
    if tensor.shape.is_null() && ndim > 0 {
        let what = format!("{ndim} dims without sizes");
        return Err(Error::new(ErrorKind::Argument, op, what));
    }
    let list = |first: *mut i64| {
        if first.is_null() {
            &[][..]
        } else {
            // SAFETY: guaranteed by the caller.
            unsafe { std::slice::from_raw_parts(first, ndim) }
        }
    };
    let sizes = list(tensor.shape).iter().map(|&size| usize::try_from(size));
    let Ok(shape) = sizes.collect::<Result<Shape, _>>() else {
        let what = format!("sizes {:?}", list(tensor.shape));
        return Err(Error::new(ErrorKind::Argument, op, what));
    };
    numel(op, &shape)?;
    if tensor.strides.is_null() {
        let strides = row_major(&shape);
        return Ok((shape, strides));
    }
    let strides = list(tensor.strides).iter();
    Ok((shape, strides.map(|&stride| stride as isize).collect()))
}

/// Returns the number of elements that lie before the first one, and the bytes from the lowest to the highest element;
/// `None` if no memory is that long.
fn reach(shape: &[usize], strides: &[isize], dtype: DType) -> Option<(usize, usize)> {
    let (mut before, mut after) = (0_usize, 0_usize);
    for (&size, &stride) in shape.iter().zip(strides) {
        let far = (size - 1).checked_mul(stride.unsigned_abs())?;
        let side = if stride < 0 { &mut before } else { &mut after };
        *side = side.checked_add(far)?;
    }
    let elements = before.checked_add(after)?.checked_add(1)?;
    let bytes = elements.checked_mul(dtype.size())?;
    (bytes <= isize::MAX as usize).then_some((before, bytes))
}

/// Frees a struct of nomina.
///
/// # Safety
/// The struct is one of [`Raw::into_dlpack`], and is not used again.
unsafe extern "C" fn free<M: Managed>(managed: *mut M) {
    // SAFETY: both come from a box, and this is the only call.
    unsafe {
        let managed = Box::from_raw(managed);
        drop(Box::from_raw(managed.context().cast::<Exported>()));
    }
}
