//! The tensors of `blocks.safetensors`, written by `cargo nomina types`.

use nomina::prelude::*;
use nomina_io::safetensors::SafeTensors;

dims! {
    /// Size 8.
    pub EncoderEmbeddingsFeature,
    /// Size 20.
    pub EncoderEmbeddingsId,
    /// Size 8.
    pub EncoderLayersNormFeature,
    /// Size 8.
    pub EncoderLayersQueryIn,
    /// Size 8.
    pub EncoderLayersQueryOut,
    /// Size 1.
    pub Stem0In,
    /// Size 3.
    pub Stem0KernelHeight,
    /// Size 3.
    pub Stem0KernelWidth,
    /// Size 4.
    pub Stem0Out,
    /// Size 4.
    pub Stem2In,
    /// Size 3.
    pub Stem2KernelHeight,
    /// Size 3.
    pub Stem2KernelWidth,
    /// Size 4.
    pub Stem2Out,
    /// Size 2.
    pub TypeDim0,
}

/// The tensors of `blocks.safetensors`.
#[derive(Clone, Debug)]
pub struct Model {
    /// The tensors below `encoder`.
    pub encoder: Encoder,
    /// `log-scale {x}`: a number.
    pub log_scale__x_: Tensor<()>,
    /// The tensors below `stem`.
    pub stem: Stem,
    /// `type`: 2.
    pub type_: Tensor<(TypeDim0,)>,
}

impl Model {
    /// Opens a file with these tensors.
    ///
    /// # Errors
    /// If it cannot be read, or a tensor is missing or has other dims or another dtype.
    pub fn open(path: impl AsRef<std::path::Path>) -> Result<Self> {
        Self::read(&SafeTensors::open(path)?, "")
    }

    fn read(file: &SafeTensors, at: &str) -> Result<Self> {
        Ok(Self {
            encoder: Encoder::read(file, &format!("{at}encoder."))?,
            log_scale__x_: file.refine(&format!("{at}log-scale {{x}}"))?,
            stem: Stem::read(file, &format!("{at}stem."))?,
            type_: file.refine(&format!("{at}type"))?,
        })
    }
}

/// A part of the file: the tensors below `encoder`.
#[derive(Clone, Debug)]
pub struct Encoder {
    /// The tensors below `embeddings`.
    pub embeddings: EncoderEmbeddings,
    /// The 3 blocks of `layers`.
    pub layers: Vec<EncoderLayers>,
}

impl Encoder {
    fn read(file: &SafeTensors, at: &str) -> Result<Self> {
        Ok(Self {
            embeddings: EncoderEmbeddings::read(file, &format!("{at}embeddings."))?,
            layers: (0..3)
                .map(|i| EncoderLayers::read(file, &format!("{at}layers.{i}.")))
                .collect::<Result<_>>()?,
        })
    }
}

/// A part of the file: the tensors below `encoder.embeddings`.
#[derive(Clone, Debug)]
pub struct EncoderEmbeddings {
    /// `weight`: 20 × 8.
    pub weight: Tensor<(EncoderEmbeddingsId, EncoderEmbeddingsFeature)>,
}

impl EncoderEmbeddings {
    fn read(file: &SafeTensors, at: &str) -> Result<Self> {
        Ok(Self {
            weight: file.refine(&format!("{at}weight"))?,
        })
    }
}

/// A part of the file: the tensors below `encoder.layers`.
#[derive(Clone, Debug)]
pub struct EncoderLayers {
    /// The tensors below `norm`.
    pub norm: EncoderLayersNorm,
    /// The tensors below `query`.
    pub query: EncoderLayersQuery,
}

impl EncoderLayers {
    fn read(file: &SafeTensors, at: &str) -> Result<Self> {
        Ok(Self {
            norm: EncoderLayersNorm::read(file, &format!("{at}norm."))?,
            query: EncoderLayersQuery::read(file, &format!("{at}query."))?,
        })
    }
}

/// A part of the file: the tensors below `encoder.layers.norm`.
#[derive(Clone, Debug)]
pub struct EncoderLayersNorm {
    /// `bias`: 8.
    pub bias: Tensor<(EncoderLayersNormFeature,)>,
    /// `weight`: 8.
    pub weight: Tensor<(EncoderLayersNormFeature,)>,
}

impl EncoderLayersNorm {
    fn read(file: &SafeTensors, at: &str) -> Result<Self> {
        Ok(Self {
            bias: file.refine(&format!("{at}bias"))?,
            weight: file.refine(&format!("{at}weight"))?,
        })
    }
}

/// A part of the file: the tensors below `encoder.layers.query`.
#[derive(Clone, Debug)]
pub struct EncoderLayersQuery {
    /// `bias`: 8.
    pub bias: Tensor<(EncoderLayersQueryOut,)>,
    /// `weight`: 8 × 8.
    pub weight: Tensor<(EncoderLayersQueryOut, EncoderLayersQueryIn)>,
}

impl EncoderLayersQuery {
    fn read(file: &SafeTensors, at: &str) -> Result<Self> {
        Ok(Self {
            bias: file.refine(&format!("{at}bias"))?,
            weight: file.refine(&format!("{at}weight"))?,
        })
    }
}

/// A part of the file: the tensors below `stem`.
#[derive(Clone, Debug)]
pub struct Stem {
    /// The tensors below `0`.
    pub layer_0: Stem0,
    /// The tensors below `2`.
    pub layer_2: Stem2,
}

impl Stem {
    fn read(file: &SafeTensors, at: &str) -> Result<Self> {
        Ok(Self {
            layer_0: Stem0::read(file, &format!("{at}0."))?,
            layer_2: Stem2::read(file, &format!("{at}2."))?,
        })
    }
}

/// A part of the file: the tensors below `stem.0`.
#[derive(Clone, Debug)]
pub struct Stem0 {
    /// `weight`: 4 × 1 × 3 × 3.
    pub weight: Tensor<(Stem0Out, Stem0In, Stem0KernelHeight, Stem0KernelWidth)>,
}

impl Stem0 {
    fn read(file: &SafeTensors, at: &str) -> Result<Self> {
        Ok(Self {
            weight: file.refine(&format!("{at}weight"))?,
        })
    }
}

/// A part of the file: the tensors below `stem.2`.
#[derive(Clone, Debug)]
pub struct Stem2 {
    /// `weight`: 4 × 4 × 3 × 3.
    pub weight: Tensor<(Stem2Out, Stem2In, Stem2KernelHeight, Stem2KernelWidth)>,
}

impl Stem2 {
    fn read(file: &SafeTensors, at: &str) -> Result<Self> {
        Ok(Self {
            weight: file.refine(&format!("{at}weight"))?,
        })
    }
}
