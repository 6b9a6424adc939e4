//! Options of normalisations.

use crate::tensor::DynTensor;

/// Options of `layer_norm_with`, `group_norm_with` and `instance_norm_with`.
#[derive(Clone, Copy, Debug)]
pub struct LayerNormOptions<'a> {
    /// The factor of the result.
    pub weight: Option<&'a DynTensor>,
    /// The summand after the factor.
    pub bias: Option<&'a DynTensor>,
    /// The number added to the variance.
    pub eps: f64,
}

impl Default for LayerNormOptions<'_> {
    fn default() -> Self {
        Self {
            weight: None,
            bias: None,
            eps: 1e-5,
        }
    }
}

/// Options of `rms_norm_with`.
#[derive(Clone, Copy, Debug, Default)]
pub struct RmsNormOptions<'a> {
    /// The factor of the result.
    pub weight: Option<&'a DynTensor>,
    /// The number added to the mean square; by default the dtype's machine epsilon.
    pub eps: Option<f64>,
}

/// Options of `batch_norm_with` and similar.
#[derive(Clone, Copy, Debug)]
pub struct BatchNormOptions<'a> {
    /// A factor for each channel.
    pub weight: Option<&'a DynTensor>,
    /// A summand for each channel.
    pub bias: Option<&'a DynTensor>,
    /// The weight of the batch's statistics in the running ones.
    pub momentum: f64,
    /// The number added to the variance.
    pub eps: f64,
}

impl Default for BatchNormOptions<'_> {
    fn default() -> Self {
        Self {
            weight: None,
            bias: None,
            momentum: 0.1,
            eps: 1e-5,
        }
    }
}

/// Options of `local_response_norm_with`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LocalResponseNormOptions {
    /// The factor of the mean square.
    pub alpha: f64,
    /// The power.
    pub beta: f64,
    /// The number added to the scaled mean square.
    pub k: f64,
}

impl Default for LocalResponseNormOptions {
    fn default() -> Self {
        Self {
            alpha: 1e-4,
            beta: 0.75,
            k: 1.0,
        }
    }
}

/// Options of `normalize_with`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NormalizeOptions {
    /// The degree of the norm.
    pub p: f64,
    /// The minimum of the divisor.
    pub eps: f64,
}

impl Default for NormalizeOptions {
    fn default() -> Self {
        Self { p: 2.0, eps: 1e-12 }
    }
}

/// Options of `cosine_similarity_with`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CosineSimilarityOptions {
    /// The minimum of the lengths to divide by.
    pub eps: f64,
}

impl Default for CosineSimilarityOptions {
    fn default() -> Self {
        Self { eps: 1e-8 }
    }
}

/// Options of `pairwise_distance_with`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairwiseDistanceOptions {
    /// The degree of the norm.
    pub p: f64,
    /// The number added to the difference.
    pub eps: f64,
}

impl Default for PairwiseDistanceOptions {
    fn default() -> Self {
        Self { p: 2.0, eps: 1e-6 }
    }
}
