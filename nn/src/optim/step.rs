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
    /// When a parameter is no float, or memory is short. Nothing has changed then.
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

    /// The state of each parameter by the path that it had at its last step: what a checkpoint holds beside the model's state.
    /// Nothing without momentum. Where a model has changed since, [`state_of`](Self::state_of) has its new paths.
    ///
    /// # Panics
    /// When memory for a number is short.
    #[must_use]
    #[track_caller]
    pub fn state(&self) -> Vec<(String, DynTensor)> {
        self.sums.state()
    }

    /// The state of the parameters of `model`, by the paths that they have in it now. Nothing without momentum.
    ///
    /// # Panics
    /// When memory for a number is short.
    #[must_use]
    #[track_caller]
    pub fn state_of(&self, model: &impl Module) -> Vec<(String, DynTensor)> {
        self.sums.state_of(model)
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
            /// When a parameter is no float, or memory is short. Nothing has changed
            /// then.
            #[twin]
            pub fn try_step(&mut self, model: &mut impl Module) -> Result<()> {
                let options = self.options;
                self.means.step($op, model, |params| call::adam(params, &options))
            }

            /// The state of each parameter by the path that it had at its last step: what a checkpoint holds beside the model's
            /// state. Where a model has changed since, [`state_of`](Self::state_of) has its new paths.
            ///
            /// # Panics
            /// When memory for a number is short.
            #[must_use]
            #[track_caller]
            pub fn state(&self) -> Vec<(String, DynTensor)> {
                self.means.state()
            }

            /// The state of the parameters of `model`, by the paths that they have in it now.
            ///
            /// ```
            /// use nomina::prelude::*;
            /// use nomina_nn::prelude::*;
            /// dims! { In, Out }
            /// let mut layers = vec![Linear::without_bias(In.of(2), Out.of(3)), Linear::without_bias(In.of(2), Out.of(3))];
            #[doc = concat!("let mut optimizer = ", stringify!($name), "::new(0.1);")]
            /// (&*layers[0].weight + &*layers[1].weight).sum(..).backward();
            /// optimizer.step(&mut layers);
            /// layers.remove(0);
            /// let paths: Vec<String> = optimizer.state_of(&layers).into_iter().map(|(path, _)| path).collect();
            /// assert_eq!(paths, ["0.weight.exp_avg", "0.weight.exp_avg_sq", "0.weight.step"]);
            /// ```
            ///
            /// # Panics
            /// When memory for a number is short.
            #[must_use]
            #[track_caller]
            pub fn state_of(&self, model: &impl Module) -> Vec<(String, DynTensor)> {
                self.means.state_of(model)
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
