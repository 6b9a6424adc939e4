//! The tensors of `python.safetensors`, written by `cargo nomina types`.

use nomina::prelude::*;
use nomina_io::safetensors::SafeTensors;

dims! {
    /// Size 2.
    pub Int64Dim0,
    /// Size 3.
    pub Int64Dim1,
    /// Size 4.
    pub Int64Dim2,
    /// Size 3.
    pub Lat,
    /// Size 4.
    pub Lon,
    /// Size 2.
    pub Time,
}

/// The tensors of `python.safetensors`.
#[derive(Clone, Debug)]
pub struct Fields {
    /// `bfloat16`: 2 × 3 × 4.
    pub bfloat16: Tensor<(Time, Lat, Lon), bf16>,
    /// `bool`: 2 × 3 × 4.
    pub bool: Tensor<(Time, Lat, Lon), bool>,
    /// `complex64`: 2 × 3 × 4.
    pub complex64: Tensor<(Time, Lat, Lon), Complex<f32>>,
    /// `float16`: 2 × 3 × 4.
    pub float16: Tensor<(Time, Lat, Lon), f16>,
    /// `float32`: 2 × 3 × 4.
    pub float32: Tensor<(Time, Lat, Lon)>,
    /// `float64`: 2 × 3 × 4.
    pub float64: Tensor<(Time, Lat, Lon), f64>,
    /// `int16`: 2 × 3 × 4.
    pub int16: Tensor<(Time, Lat, Lon), i16>,
    /// `int32`: 2 × 3 × 4.
    pub int32: Tensor<(Time, Lat, Lon), i32>,
    /// `int64`: 2 × 3 × 4.
    pub int64: Tensor<(Int64Dim0, Int64Dim1, Int64Dim2), i64>,
    /// `int8`: 2 × 3 × 4.
    pub int8: Tensor<(Time, Lat, Lon), i8>,
    /// `uint8`: 2 × 3 × 4.
    pub uint8: Tensor<(Time, Lat, Lon), u8>,
}

impl Fields {
    /// Opens a file with these tensors.
    ///
    /// # Errors
    /// If it cannot be read, or a tensor is missing or has other dims or another dtype.
    pub fn open(path: impl AsRef<std::path::Path>) -> Result<Self> {
        Self::read(&SafeTensors::open(path)?, "")
    }

    fn read(file: &SafeTensors, at: &str) -> Result<Self> {
        Ok(Self {
            bfloat16: file.refine(&format!("{at}bfloat16"))?,
            bool: file.refine(&format!("{at}bool"))?,
            complex64: file.refine(&format!("{at}complex64"))?,
            float16: file.refine(&format!("{at}float16"))?,
            float32: file.refine(&format!("{at}float32"))?,
            float64: file.refine(&format!("{at}float64"))?,
            int16: file.refine(&format!("{at}int16"))?,
            int32: file.refine(&format!("{at}int32"))?,
            int64: file.refine(&format!("{at}int64"))?,
            int8: file.refine(&format!("{at}int8"))?,
            uint8: file.refine(&format!("{at}uint8"))?,
        })
    }
}
