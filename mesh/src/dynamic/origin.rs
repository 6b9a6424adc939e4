//! Constructors from files, and changes of a tensor's origin.

use super::DynSharded;
#[cfg(feature = "safetensors")]
use crate::metadata::Metadata;
use crate::origin::Origin;

impl DynSharded {
    /// Wraps a piece with its metadata.
    #[cfg(feature = "safetensors")]
    pub(crate) fn from_metadata(local: nomina::DynTensor, metadata: Metadata) -> Self {
        Self {
            local,
            sizes: metadata.sizes,
            places: metadata.places,
            origin: metadata.origin,
            shared: metadata.shared,
        }
    }

    /// Replaces the origin.
    #[cfg(feature = "safetensors")]
    pub(crate) fn with_origin(self, origin: Origin) -> Self {
        Self { origin, ..self }
    }

    /// Mixes a number into the origin of a tensor that depends on it.
    pub(crate) fn with_number(self, number: u64) -> Self {
        let origin: Origin = self.origin.with_number(number);
        Self { origin, ..self }
    }
}
