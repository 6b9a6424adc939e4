//! The tensors of `packed.zarr`, written by `cargo nomina types`.

use nomina::prelude::*;
use nomina_io::zarr::Zarr;

dims! {
    /// Size 3.
    pub Time,
}

/// The tensors of `packed.zarr`.
#[derive(Clone, Debug)]
pub struct Packed {
    /// `float32`: 3.
    pub float32: Zarr<Tensor<(Time,)>>,
    /// `float64`: 3.
    pub float64: Zarr<Tensor<(Time,), f64>>,
    /// `int16`: 3.
    pub int16: Zarr<Tensor<(Time,), f64>>,
    /// `int8`: 3.
    pub int8: Zarr<Tensor<(Time,), f64>>,
}

impl Packed {
    /// Opens a file with these tensors.
    ///
    /// # Errors
    /// If it cannot be read, or a tensor is missing or has other dims or another dtype.
    pub fn open(path: impl AsRef<std::path::Path>) -> Result<Self> {
        Self::read(path.as_ref(), "")
    }

    fn read(file: &std::path::Path, at: &str) -> Result<Self> {
        Ok(Self {
            float32: Zarr::refine(file.join(format!("{at}float32")))?,
            float64: Zarr::refine(file.join(format!("{at}float64")))?,
            int16: Zarr::refine(file.join(format!("{at}int16")))?,
            int8: Zarr::refine(file.join(format!("{at}int8")))?,
        })
    }
}
