//! The optimizers.

use nomina::{DynTensor, Result};
use nomina_macros::twin;
use nomina_runtime::call::{self, AdamOptions, SgdOptions};

use super::memory::Memory;
use crate::module::Module;

/// Gradient descent, with momentum where its options say so.
#[derive(Clone, Debug)]
pub struct Sgd {
    /// What the next step is told.
    pub options: SgdOptions,
    sums: Memory<1>,
    plain: Memory<0>,
}

impl Sgd {
    /// Plain descent at a rate.
    #[must_use]
    pub fn new(lr: f64) -> Self {
        Self::with(SgdOptions {
            lr,
            ..SgdOptions::default()
        })
    }

    /// With options.
    #[must_use]
    pub fn with(options: SgdOptions) -> Self {
        Self {
            options,
            sums: Memory::new(["momentum_buffer"]),
            plain: Memory::new([]),
        }
    }

    /// Changes all parameters that have a gradient, which is then taken.
    ///
    /// # Errors
    /// When a parameter is no float or has other sizes than at its last step, or memory is short. Nothing has changed then.
    #[twin]
    pub fn try_step(&mut self, model: &mut impl Module) -> Result<()> {
        let options = self.options;
        if options.momentum == 0.0 {
            return self
                .plain
                .step("sgd", model, |params| call::sgd(params, &options));
        }
        self.sums
            .step("sgd", model, |params| call::sgd_momentum(params, &options))
    }

    /// What is kept for each parameter, by its path: what a checkpoint holds beside the model's state. Nothing without
    /// momentum.
    ///
    /// # Panics
    /// When memory for a number is short.
    #[must_use]
    #[track_caller]
    pub fn state(&self) -> Vec<(String, DynTensor)> {
        self.sums.state()
    }

    /// Takes what was kept for the parameters of `model` that are trained, not frozen, from `of`, which gives the tensor of a path.
    ///
    /// # Errors
    /// When `of` fails, or a tensor has other names, sizes or another dtype than its parameter. Nothing has changed then.
    #[twin]
    pub fn try_load(
        &mut self,
        model: &impl Module,
        of: impl FnMut(&str) -> Result<DynTensor>,
    ) -> Result<()> {
        if self.options.momentum == 0.0 {
            return Ok(());
        }
        self.sums.load("sgd", model, of)
    }
}

macro_rules! adam {
    ($(#[$docs:meta])* $name:ident, $op:literal, $default:ident) => {
        $(#[$docs])*
        #[derive(Clone, Debug)]
        pub struct $name {
            /// What the next step is told.
            pub options: AdamOptions,
            means: Memory<2>,
        }

        impl $name {
            /// With PyTorch's defaults, at a rate.
            #[must_use]
            pub fn new(lr: f64) -> Self {
                Self::with(AdamOptions {
                    lr,
                    ..AdamOptions::$default()
                })
            }

            /// With options.
            #[must_use]
            pub fn with(options: AdamOptions) -> Self {
                Self {
                    options,
                    means: Memory::new(["exp_avg", "exp_avg_sq"]),
                }
            }

            /// Changes all parameters that have a gradient, which is then taken.
            ///
            /// # Errors
            /// When a parameter is no float or has other sizes than at its last step, or memory is short. Nothing has changed
            /// then.
            #[twin]
            pub fn try_step(&mut self, model: &mut impl Module) -> Result<()> {
                let options = self.options;
                self.means.step($op, model, |params| call::adam(params, &options))
            }

            /// What is kept for each parameter, by its path: what a checkpoint holds beside the model's state.
            ///
            /// # Panics
            /// When memory for a number is short.
            #[must_use]
            #[track_caller]
            pub fn state(&self) -> Vec<(String, DynTensor)> {
                self.means.state()
            }

            /// Takes what was kept for the parameters of `model` that are trained, not frozen, from `of`, which gives the tensor of a path.
            ///
            /// # Errors
            /// When `of` fails, or a tensor has other names, sizes or another dtype than its parameter. Nothing has changed
            /// then.
            #[twin]
            pub fn try_load(
                &mut self,
                model: &impl Module,
                of: impl FnMut(&str) -> Result<DynTensor>,
            ) -> Result<()> {
                self.means.load($op, model, of)
            }
        }
    };
}
adam!(
    /// Adam: each element by the running means of its gradient and of its square. Kingma and Ba, "Adam: A Method for Stochastic
    /// Optimization".
    Adam, "adam", adam
);
adam!(
    /// Adam whose weights decay beside the means. Loshchilov and Hutter, "Decoupled Weight Decay Regularization".
    AdamW, "adamw", adamw
);
