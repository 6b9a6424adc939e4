//! Serialisation of tensors with `serde`, in the format of [`DynTensor`]; deserialising checks dims
//! and dtype.

use nomina_core::Element;
use nomina_core::dims::{Dims, Distinct};
use nomina_runtime::DynTensor;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Tensor;
use super::dynamic::checked;
use crate::erased::Known;

impl<D: Dims, T: Element> Serialize for Tensor<D, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_dyn().serialize(serializer)
    }
}

impl<'de, D: Dims + Distinct, T: Element> Deserialize<'de> for Tensor<D, T> {
    fn deserialize<S: Deserializer<'de>>(deserializer: S) -> Result<Self, S::Error> {
        let read = DynTensor::deserialize(deserializer)?;
        let erased = checked(read, D::STATIC, T::DTYPE);
        // No call of the user created it.
        erased
            .map(Self::kept)
            .map_err(|(_, error)| S::Error::custom(error))
    }
}
