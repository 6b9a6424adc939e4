//! New tensors like another.

use nomina_core::dims::Dims;
use nomina_core::{Element, Float, Inexact, MemoryFormat, Result, Scalar};
use nomina_macros::twin;
use nomina_runtime::Device;

use super::Tensor;
use crate::erased::factory::{self, Fill};

/// Options of `zeros_like_with` and similar methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LikeOptions {
    /// The device; by default that of the tensor.
    pub device: Option<Device>,
    /// The memory order of the dims; by default that of the tensor.
    pub memory_format: MemoryFormat,
}

impl Default for LikeOptions {
    fn default() -> Self {
        Self {
            device: None,
            memory_format: MemoryFormat::Preserve,
        }
    }
}

macro_rules! like {
    ($($name:ident $try_name:ident $try_with:ident ($($arg:ident: $kind:ty)?) $bound:ident $fill:expr, $doc:literal;)*) => {
        impl<D: Dims, T: Element> Tensor<D, T> {$(
            #[doc = $doc]
            /// in the sizes, names, dtype and memory order of this tensor, on its device.
            ///
            /// # Errors
            /// If memory runs out.
            #[twin]
            pub fn $try_name(&self $(, $arg: $kind)?) -> Result<Self>
            where
                T: $bound,
            {
                self.$try_with($($arg,)? LikeOptions::default())
            }

            #[doc = $doc]
            /// in the sizes and names of this tensor, and in another dtype or memory order, or on another device.
            ///
            /// # Errors
            /// If the memory format is for another number of dims, memory runs out, or the device does not exist.
            #[twin]
            pub fn $try_with<U: $bound>(
                &self $(, $arg: $kind)?,
                options: LikeOptions,
            ) -> Result<Tensor<D, U>> {
                let (op, x) = (stringify!($name), self.erased());
                let LikeOptions { device, memory_format } = options;
                Tensor::try_from_erased(factory::like_as(op, x, $fill, U::DTYPE, device, memory_format))
            }
        )*}
    };
}

like! {
    zeros_like try_zeros_like try_zeros_like_with () Element Fill::Zeros, "Creates zeros";
    ones_like try_ones_like try_ones_like_with () Element Fill::Number(1.into()), "Creates ones";
    empty_like try_empty_like try_empty_like_with () Element Fill::Zeros, "Creates unspecified elements";
    rand_like try_rand_like try_rand_like_with () Float Fill::Uniform(None), "Draws uniform random numbers";
    randn_like try_randn_like try_randn_like_with () Inexact Fill::Normal(None), "Draws normal random numbers";
    full_like try_full_like try_full_like_with (value: impl Into<Scalar>) Element Fill::Number(value.into()), "Creates a tensor of one number";
}
