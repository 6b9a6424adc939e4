//! Functions that Python's `ctypes` calls with pointers to structs of DLPack. They return null after an error, whose
//! text `error_text` returns.

use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::ptr::{null, null_mut};

use nomina::dlpack::{Capsule, DLManagedTensor, DLManagedTensorVersioned, Managed};
use nomina::{DType, DynTensor, Names, Result};

thread_local! {
    static ERROR: RefCell<Option<CString>> = const { RefCell::new(None) };
}

fn pointer<M: Managed>(result: Result<Capsule<M>>) -> *mut M {
    match result {
        Ok(capsule) => capsule.into_raw(),
        Err(error) => {
            ERROR.set(CString::new(error.to_string()).ok());
            null_mut()
        }
    }
}

fn import<M: Managed>(capsule: Result<Capsule<M>>) -> Result<DynTensor> {
    let capsule = capsule?;
    // SAFETY: the capsule owns a struct that the importing functions were given.
    DynTensor::from_dlpack(capsule, ())
}

/// Returns the text of the last error, or null.
#[unsafe(no_mangle)]
pub extern "C" fn error_text() -> *const c_char {
    ERROR.with_borrow(|text| text.as_ref().map_or(null(), |text| text.as_ptr()))
}

/// Returns the same elements, which no one copies.
///
/// # Safety
/// The requirements of [`Capsule::from_raw`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn share(
    tensor: *mut DLManagedTensorVersioned,
) -> *mut DLManagedTensorVersioned {
    // SAFETY: guaranteed by the caller.
    let capsule = unsafe { Capsule::from_raw(tensor) };
    pointer(import(capsule).and_then(DynTensor::into_dlpack))
}

/// Returns the sum of the elements with themselves.
///
/// # Safety
/// The requirements of [`Capsule::from_raw`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn double(
    tensor: *mut DLManagedTensorVersioned,
) -> *mut DLManagedTensorVersioned {
    // SAFETY: guaranteed by the caller.
    let capsule = unsafe { Capsule::from_raw(tensor) };
    let double = |x: DynTensor| x.add(&x)?.into_dlpack();
    pointer(import(capsule).and_then(double))
}

/// Adds one in place, and returns the tensor.
///
/// # Safety
/// The requirements of [`Capsule::from_raw`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn increment(
    tensor: *mut DLManagedTensorVersioned,
) -> *mut DLManagedTensorVersioned {
    // SAFETY: guaranteed by the caller.
    let capsule = unsafe { Capsule::from_raw(tensor) };
    let increment = |mut x: DynTensor| {
        x.add_(1)?;
        x.into_dlpack()
    };
    pointer(import(capsule).and_then(increment))
}

/// Takes and returns the struct of versions before 1.0.
///
/// # Safety
/// The requirements of [`Capsule::from_raw`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn share_older(tensor: *mut DLManagedTensor) -> *mut DLManagedTensor {
    // SAFETY: guaranteed by the caller.
    let capsule = unsafe { Capsule::from_raw(tensor) };
    pointer(import(capsule).and_then(DynTensor::into_dlpack))
}

/// Returns a new 2 × 3 tensor of the numbers from 0, transposed if asked for.
#[unsafe(no_mangle)]
pub extern "C" fn count(transposed: bool) -> *mut DLManagedTensorVersioned {
    let count = || {
        let options = DynTensor::options().dtype(DType::F32);
        let x = options
            .arange(0, 6, 1, Names::unnamed(1))?
            .reshape(&[2, 3])?;
        // Only one of both owns the buffer, which can then be written to.
        let turned = if transposed {
            Some(x.permute([1, 0])?)
        } else {
            None
        };
        let x = match turned {
            Some(turned) => {
                drop(x);
                turned
            }
            None => x,
        };
        x.into_dlpack()
    };
    pointer(count())
}
