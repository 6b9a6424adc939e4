//! DLPack: tensors of other libraries in the same process.

use nomina_core::Result;

use super::{DynTensor, IntoNames};
use crate::call;
use crate::raw::Raw;
use crate::raw::dlpack::{Capsule, Managed};

impl DynTensor {
    /// Converts to a capsule of DLPack, which NumPy, PyTorch and JAX view without a copy. Names are lost.
    ///
    /// If the buffer has no other owner, the importer may write to it. Otherwise the capsule is marked read-only; the
    /// older struct `DLManagedTensor` has no such mark, so that it gets a copy. PyTorch ignores the mark.
    ///
    /// ```
    /// use nomina_runtime::DynTensor;
    /// use nomina_runtime::raw::dlpack::Capsule;
    /// let x = DynTensor::from_vec(vec![1.0_f32, 2.0, 3.0, 4.0], &[2, 2], ["N", "C"])?;
    /// let capsule: Capsule = x.into_dlpack()?;
    /// let pointer = capsule.into_raw();       // to another library, which frees it
    /// # let capsule = unsafe { Capsule::from_raw(pointer)? };
    /// # assert_eq!(DynTensor::from_dlpack(capsule, ["N", "C"])?.to_vec::<f32>()?, [1.0, 2.0, 3.0, 4.0]);
    /// # Ok::<(), nomina_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Device`](nomina_core::ErrorKind::Device) if the tensor is not on the host,
    /// [`ErrorKind::Gradient`](nomina_core::ErrorKind::Gradient) if it is recorded.
    pub fn into_dlpack<M: Managed>(self) -> Result<Capsule<M>> {
        let names = self.names;
        let capsule = self.raw.into_dlpack(call::duplicate);
        capsule.map_err(|error| error.with_names([&names]))
    }

    /// Views the elements of a capsule of DLPack, without a copy. The capsule is freed with the last tensor that views
    /// them. They are copied before nomina writes to them.
    ///
    /// # Errors
    /// [`ErrorKind::NamesLen`](nomina_core::ErrorKind::NamesLen) unless there is a name for each dim;
    /// [`ErrorKind::DType`](nomina_core::ErrorKind::DType) for elements that no tensor has, such as `uint16`;
    /// [`ErrorKind::Device`](nomina_core::ErrorKind::Device) if they are not on the host;
    /// [`ErrorKind::Argument`](nomina_core::ErrorKind::Argument) and others for a struct that is broken.
    pub fn from_dlpack<M: Managed>(capsule: Capsule<M>, names: impl IntoNames) -> Result<Self> {
        let raw = Raw::from_dlpack(capsule)?;
        let names = names.into_names("from_dlpack", raw.rank())?;
        Ok(Self::new(raw, names))
    }
}
