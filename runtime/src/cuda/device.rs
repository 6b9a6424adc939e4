//! Which devices are there.

use nomina_core::Result;

use crate::{Device, cuda};

impl Device {
    /// A CUDA device that is there.
    ///
    /// # Errors
    /// [`ErrorKind::Device`](nomina_core::ErrorKind::Device) that says what is missing: this build's feature `cuda`, the driver, a
    /// library, or the device.
    pub fn cuda(ordinal: usize) -> Result<Self> {
        cuda::check("device", ordinal).map(|()| Self::from(ordinal))
    }

    /// The devices that are there, the host first.
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

    /// The device itself: the current one where no ordinal is said.
    #[must_use]
    pub fn resolved(self) -> Self {
        match self {
            Self::Cuda(None) => Self::from(cuda::current()),
            other => other,
        }
    }
}
