//! The backends of devices.

use nomina_core::Result;

use crate::Device;
use crate::cpu::Cpu;
use crate::job::Backend;
use crate::profile::{self, Span};
use crate::storage::Storage;

/// A backend while it computes an operator, which is measured if profiling is on.
pub(crate) struct Computing {
    on: &'static dyn Backend,
    _span: Span,
}

impl std::ops::Deref for Computing {
    type Target = dyn Backend;

    #[inline(always)]
    fn deref(&self) -> &Self::Target {
        self.on
    }
}

/// Returns a new buffer on a device, indeterminate or zero.
///
/// # Errors
/// If memory or the device is missing.
#[inline]
pub(crate) fn allocate(
    op: &'static str,
    device: Device,
    bytes: usize,
    zeroed: bool,
) -> Result<Storage> {
    let storage = find(op, device)?.allocate(op, bytes, zeroed)?;
    if profile::is_on() {
        profile::allocated(op, bytes, storage.as_ptr().addr());
    }
    Ok(storage)
}

/// Returns the backend of a device.
///
/// # Errors
/// [`ErrorKind::Device`] for a device that does not exist.
#[inline]
pub(crate) fn backend(op: &'static str, device: Device) -> Result<Computing> {
    Ok(Computing {
        on: find(op, device)?,
        _span: Span::new(op),
    })
}

/// Returns the backend of a device, without measuring what it computes.
///
/// # Errors
/// [`ErrorKind::Device`] for a device that does not exist.
#[inline]
pub(crate) fn find(op: &'static str, device: Device) -> Result<&'static dyn Backend> {
    match device {
        Device::Cpu => Ok(&Cpu),
        Device::Cuda(ordinal) => cuda_backend(op, ordinal),
    }
}

#[cfg(feature = "cuda")]
fn cuda_backend(op: &'static str, ordinal: Option<usize>) -> Result<&'static dyn Backend> {
    let ordinal = ordinal.unwrap_or_else(crate::cuda::current);
    crate::cuda::Cuda::get(op, ordinal).map(|cuda| cuda as &dyn Backend)
}

#[cfg(not(feature = "cuda"))]
fn cuda_backend(op: &'static str, ordinal: Option<usize>) -> Result<&'static dyn Backend> {
    // This build has no such backend; this returns the error.
    crate::cuda::check(op, ordinal.unwrap_or_else(crate::cuda::current))?;
    Ok(&Cpu)
}
