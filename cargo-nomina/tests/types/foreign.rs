//! The tensors of `foreign.pt`, written by `cargo nomina types`.

use nomina::prelude::*;
use nomina_io::ForeignDType;
use nomina_io::pth::Pth;

dims! {
    /// Size 256.
    pub Float8E4m3fnDim0,
    /// Size 16.
    pub Float8E5m2Dim0,
    /// Size 16.
    pub Float8E5m2Dim1,
    /// Size 3.
    pub Uint16Dim0,
    /// Size 3.
    pub Uint32Dim0,
    /// Size 3.
    pub Uint64Dim0,
}

/// The tensors of `foreign.pt`.
#[derive(Clone, Debug)]
pub struct Foreign {
    /// `float8_e4m3fn`: 256.
    pub float8_e4m3fn: Tensor<(Float8E4m3fnDim0,), bf16>,
    /// `float8_e5m2`: 16 × 16.
    pub float8_e5m2: Tensor<(Float8E5m2Dim0, Float8E5m2Dim1), bf16>,
    /// `uint16`: 3.
    pub uint16: Tensor<(Uint16Dim0,), i32>,
    /// `uint32`: 3.
    pub uint32: Tensor<(Uint32Dim0,), i64>,
    /// `uint64`: 3.
    pub uint64: Tensor<(Uint64Dim0,), i64>,
}

impl Foreign {
    /// Opens a file with these tensors.
    ///
    /// # Errors
    /// If it cannot be read, or a tensor is missing or has other dims or another dtype.
    pub fn open(path: impl AsRef<std::path::Path>) -> Result<Self> {
        Self::read(
            &Pth::open(path)?
                .read_as(ForeignDType::F8E4M3, DType::BF16)
                .read_as(ForeignDType::F8E5M2, DType::BF16)
                .read_as(ForeignDType::U16, DType::I32)
                .read_as(ForeignDType::U32, DType::I64)
                .read_as(ForeignDType::U64, DType::I64),
            "",
        )
    }

    fn read(file: &Pth, at: &str) -> Result<Self> {
        Ok(Self {
            float8_e4m3fn: file.refine(&format!("{at}float8_e4m3fn"))?,
            float8_e5m2: file.refine(&format!("{at}float8_e5m2"))?,
            uint16: file.refine(&format!("{at}uint16"))?,
            uint32: file.refine(&format!("{at}uint32"))?,
            uint64: file.refine(&format!("{at}uint64"))?,
        })
    }
}
