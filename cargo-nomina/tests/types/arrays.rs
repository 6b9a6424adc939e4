//! The tensors of `python.npz`, written by `cargo nomina types`.

use nomina::prelude::*;
use nomina_io::npz::Npz;

dims! {
    /// Size 2.
    pub BoolDim0 = 2,
    /// Size 3.
    pub BoolDim1 = 3,
    /// Size 4.
    pub BoolDim2 = 4,
    /// Size 2.
    pub Complex128Dim0 = 2,
    /// Size 3.
    pub Complex128Dim1 = 3,
    /// Size 4.
    pub Complex128Dim2 = 4,
    /// Size 2.
    pub Complex64Dim0 = 2,
    /// Size 3.
    pub Complex64Dim1 = 3,
    /// Size 4.
    pub Complex64Dim2 = 4,
    /// Size 2.
    pub Float16Dim0 = 2,
    /// Size 3.
    pub Float16Dim1 = 3,
    /// Size 4.
    pub Float16Dim2 = 4,
    /// Size 2.
    pub Float32Dim0 = 2,
    /// Size 3.
    pub Float32Dim1 = 3,
    /// Size 4.
    pub Float32Dim2 = 4,
    /// Size 2.
    pub Float64Dim0 = 2,
    /// Size 3.
    pub Float64Dim1 = 3,
    /// Size 4.
    pub Float64Dim2 = 4,
    /// Size 2.
    pub Int16Dim0 = 2,
    /// Size 3.
    pub Int16Dim1 = 3,
    /// Size 4.
    pub Int16Dim2 = 4,
    /// Size 2.
    pub Int32Dim0 = 2,
    /// Size 3.
    pub Int32Dim1 = 3,
    /// Size 4.
    pub Int32Dim2 = 4,
    /// Size 2.
    pub Int64Dim0 = 2,
    /// Size 3.
    pub Int64Dim1 = 3,
    /// Size 4.
    pub Int64Dim2 = 4,
    /// Size 2.
    pub Int8Dim0 = 2,
    /// Size 3.
    pub Int8Dim1 = 3,
    /// Size 4.
    pub Int8Dim2 = 4,
    /// Size 2.
    pub Uint8Dim0 = 2,
    /// Size 3.
    pub Uint8Dim1 = 3,
    /// Size 4.
    pub Uint8Dim2 = 4,
}

/// The tensors of `python.npz`.
#[derive(Clone, Debug)]
pub struct Python {
    /// `bool`: 2 × 3 × 4.
    pub bool: Tensor<(BoolDim0, BoolDim1, BoolDim2), bool>,
    /// `complex128`: 2 × 3 × 4.
    pub complex128: Tensor<(Complex128Dim0, Complex128Dim1, Complex128Dim2), Complex<f64>>,
    /// `complex64`: 2 × 3 × 4.
    pub complex64: Tensor<(Complex64Dim0, Complex64Dim1, Complex64Dim2), Complex<f32>>,
    /// `float16`: 2 × 3 × 4.
    pub float16: Tensor<(Float16Dim0, Float16Dim1, Float16Dim2), f16>,
    /// `float32`: 2 × 3 × 4.
    pub float32: Tensor<(Float32Dim0, Float32Dim1, Float32Dim2)>,
    /// `float64`: 2 × 3 × 4.
    pub float64: Tensor<(Float64Dim0, Float64Dim1, Float64Dim2), f64>,
    /// `int16`: 2 × 3 × 4.
    pub int16: Tensor<(Int16Dim0, Int16Dim1, Int16Dim2), i16>,
    /// `int32`: 2 × 3 × 4.
    pub int32: Tensor<(Int32Dim0, Int32Dim1, Int32Dim2), i32>,
    /// `int64`: 2 × 3 × 4.
    pub int64: Tensor<(Int64Dim0, Int64Dim1, Int64Dim2), i64>,
    /// `int8`: 2 × 3 × 4.
    pub int8: Tensor<(Int8Dim0, Int8Dim1, Int8Dim2), i8>,
    /// `uint8`: 2 × 3 × 4.
    pub uint8: Tensor<(Uint8Dim0, Uint8Dim1, Uint8Dim2), u8>,
}

impl Python {
    /// Opens a file with these tensors.
    ///
    /// # Errors
    /// If it cannot be read, or a tensor is missing or has other dims or another dtype.
    pub fn open(path: impl AsRef<std::path::Path>) -> Result<Self> {
        Self::read(&Npz::open(path)?, "")
    }

    fn read(file: &Npz, at: &str) -> Result<Self> {
        Ok(Self {
            bool: file.load(&format!("{at}bool"))?,
            complex128: file.load(&format!("{at}complex128"))?,
            complex64: file.load(&format!("{at}complex64"))?,
            float16: file.load(&format!("{at}float16"))?,
            float32: file.load(&format!("{at}float32"))?,
            float64: file.load(&format!("{at}float64"))?,
            int16: file.load(&format!("{at}int16"))?,
            int32: file.load(&format!("{at}int32"))?,
            int64: file.load(&format!("{at}int64"))?,
            int8: file.load(&format!("{at}int8"))?,
            uint8: file.load(&format!("{at}uint8"))?,
        })
    }
}
