//! Constructors from files, and changes of a tensor's origin.

use super::DynSharded;
#[cfg(feature = "safetensors")]
use crate::frame::Frame;
use crate::origin::Origin;

impl DynSharded {
    /// Wraps a piece with the metadata of a frame.
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

    /// Mixes a number into the origin of a tensor that depends on it.
    pub(crate) fn mixed(self, number: u64) -> Self {
        let origin: Origin = self.origin.mixed(number);
        Self { origin, ..self }
    }
}
