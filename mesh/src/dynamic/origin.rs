//! Tensors from elsewhere: files, and numbers.

use super::DynSharded;
#[cfg(feature = "safetensors")]
use crate::frame::Frame;
use crate::origin::Origin;

impl DynSharded {
    /// A piece of what a frame says.
    #[cfg(feature = "safetensors")]
    pub(crate) fn of(local: nomina::DynTensor, frame: Frame) -> Self {
        Self {
            local,
            sizes: frame.sizes,
            places: frame.places,
            origin: frame.origin,
            shared: frame.shared,
        }
    }

    /// Replaces the origin.
    #[cfg(feature = "safetensors")]
    pub(crate) fn with_origin(self, origin: Origin) -> Self {
        Self { origin, ..self }
    }

    /// A tensor that depends on a number.
    pub(crate) fn mixed(self, number: u64) -> Self {
        let origin: Origin = self.origin.mixed(number);
        Self { origin, ..self }
    }
}
