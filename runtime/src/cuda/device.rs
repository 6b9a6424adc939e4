//! Lookup of devices.

use nomina_core::Result;

use crate::{Device, cuda};

impl Device {
    /// Returns a CUDA device, after checking that it is there.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Device`](nomina_core::ErrorKind::Device) that names what is missing: this build's feature
    /// `cuda`, the driver, a library, or the device.
    pub fn cuda(ordinal: usize) -> Result<Self> {
        cuda::check("device", ordinal).map(|()| Self::from(ordinal))
    }

    /// Returns all devices, the host first.
    ///
    /// ```
    /// use nomina_runtime::Device;
    /// assert_eq!(Device::available()[0], Device::Cpu);
    /// ```
    #[must_use]
    pub fn available() -> Vec<Self> {
        let count = cuda::count().unwrap_or(0);
        let all = (0..count).map(Self::from);
        std::iter::once(Self::Cpu).chain(all).collect()
    }

    /// Returns the device with its ordinal: `cuda` without one is the current device.
    #[must_use]
    pub fn resolved(self) -> Self {
        match self {
            Self::Cuda(None) => Self::from(cuda::current()),
            other => other,
        }
    }
}
