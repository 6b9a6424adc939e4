//! What a device can do.
//!
//! The entries in [`crate::call`] check dtypes and sizes and decide the result's layout; then they
//! hand a plain descriptor to the device's backend. A second device is a second implementation,
//! and an operator class it lacks does not compile.

use nomina_core::{DType, Device, Error, ErrorKind, Result};

use crate::storage::Storage;

/// The kernels of one device, one method per class.
pub(crate) trait Backend: Sync {
    /// A buffer with indeterminate content, or all zero.
    fn allocate(&self, op: &'static str, bytes: usize, zeroed: bool) -> Result<Storage>;
}

/// The host.
pub(crate) struct Cpu;

impl Backend for Cpu {
    fn allocate(&self, op: &'static str, bytes: usize, zeroed: bool) -> Result<Storage> {
        if zeroed {
            Storage::cpu_zeroed(op, bytes)
        } else {
            Storage::cpu(op, bytes)
        }
    }
}

/// The backend of a device.
///
/// # Errors
/// [`ErrorKind::Device`] for a device that this build has no backend for.
pub(crate) fn backend(op: &'static str, device: Device) -> Result<&'static dyn Backend> {
    match device {
        Device::Cpu => Ok(&Cpu),
        Device::Cuda(_) => {
            let what = format!("`{device}` is not there: this build has no CUDA backend");
            Err(Error::new(ErrorKind::Device, op, what).hint("use `cpu`"))
        }
    }
}

/// The dtype in which the host computes what is asked for in `dtype`: 16-bit floats compute in
/// `f32`.
#[must_use]
pub(crate) fn arithmetic(dtype: DType) -> DType {
    match dtype {
        DType::F16 | DType::BF16 => DType::F32,
        other => other,
    }
}
