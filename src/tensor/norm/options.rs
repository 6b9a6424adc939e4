//! Options of normalisations.

use nomina_core::Element;
use nomina_core::dims::Dims;
use nomina_runtime::DynTensor;
use nomina_runtime::tensor as dynamic;

use crate::erased::ErasedRef;
use crate::tensor::Tensor;

/// Options of `layer_norm_with`, `group_norm_with` and `instance_norm_with`: a weight and a bias
/// with dims `L`.
pub struct LayerNormOptions<'a, L: Dims, T: Element> {
    /// The factor of the result.
    pub weight: Option<&'a Tensor<L, T>>,
    /// The summand after the factor.
    pub bias: Option<&'a Tensor<L, T>>,
    /// The number added to the variance.
    pub eps: f64,
}

/// Options of `rms_norm_with`: a weight with dims `L`.
pub struct RmsNormOptions<'a, L: Dims, T: Element> {
    /// The factor of the result.
    pub weight: Option<&'a Tensor<L, T>>,
    /// The number added to the mean square; by default the dtype's machine epsilon.
    pub eps: Option<f64>,
}

/// Options of `batch_norm_with` and similar: a weight and a bias along the dim of channels.
pub struct BatchNormOptions<'a, X: Dims, T: Element> {
    /// A factor for each channel.
    pub weight: Option<&'a Tensor<X, T>>,
    /// A summand for each channel.
    pub bias: Option<&'a Tensor<X, T>>,
    /// The weight of the batch's statistics in the running ones.
    pub momentum: f64,
    /// The number added to the variance.
    pub eps: f64,
}

// Derives would add bounds on dims and dtypes that are not needed.
macro_rules! copies {
    ($($name:ident { $($field:ident = $default:expr),* })*) => {$(
        impl<L: Dims, T: Element> Clone for $name<'_, L, T> {
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<L: Dims, T: Element> Copy for $name<'_, L, T> {}
        impl<L: Dims, T: Element> std::fmt::Debug for $name<'_, L, T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($name))
                    $(.field(stringify!($field), &self.$field))*
                    .finish()
            }
        }
        impl<L: Dims, T: Element> Default for $name<'_, L, T> {
            fn default() -> Self {
                Self { $($field: $default),* }
            }
        }
    )*};
}

copies! {
    LayerNormOptions { weight = None, bias = None, eps = 1e-5 }
    RmsNormOptions { weight = None, eps = None }
    BatchNormOptions { weight = None, bias = None, momentum = 0.1, eps = 1e-5 }
}

impl<L: Dims, T: Element> LayerNormOptions<'_, L, T> {
    pub(super) fn operands(&self) -> [Option<ErasedRef<'_>>; 2] {
        [self.weight, self.bias].map(|scale| scale.map(Tensor::erased))
    }

    pub(super) fn dynamic<'a>(
        &self,
        weight: Option<&'a DynTensor>,
        bias: Option<&'a DynTensor>,
    ) -> dynamic::LayerNormOptions<'a> {
        let eps = self.eps;
        dynamic::LayerNormOptions { weight, bias, eps }
    }
}

impl<L: Dims, T: Element> BatchNormOptions<'_, L, T> {
    pub(super) fn operands(&self) -> [Option<ErasedRef<'_>>; 2] {
        [self.weight, self.bias].map(|scale| scale.map(Tensor::erased))
    }

    pub(super) fn dynamic<'a>(
        &self,
        weight: Option<&'a DynTensor>,
        bias: Option<&'a DynTensor>,
    ) -> dynamic::BatchNormOptions<'a> {
        dynamic::BatchNormOptions {
            weight,
            bias,
            momentum: self.momentum,
            eps: self.eps,
        }
    }
}
