//! Which backend computes on a device.

use nomina_core::Result;

use crate::Device;
use crate::cpu::Cpu;
use crate::job::Backend;

/// The backend of a device.
///
/// # Errors
/// [`ErrorKind::Device`] for a device that is not there.
#[inline]
pub(crate) fn backend(op: &'static str, device: Device) -> Result<&'static dyn Backend> {
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
    // There is none in this build, which is what this says.
    crate::cuda::check(op, ordinal.unwrap_or_else(crate::cuda::current))?;
    Ok(&Cpu)
}
