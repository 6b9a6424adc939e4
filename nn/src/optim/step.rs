//! The optimizers.

use nomina::{DynTensor, Result};
use nomina_macros::twin;
use nomina_runtime::call::{self, AdamOptions, SgdOptions};

use super::state::StateByParam;
use crate::module::Module;

/// Stochastic gradient descent, with optional momentum.
#[derive(Clone, Debug)]
pub struct Sgd {
    /// The options of the next step.
    pub options: SgdOptions,
    sums: StateByParam<1>,
    plain: StateByParam<0>,
}

impl Sgd {
    /// Creates plain gradient descent with a learning rate.
    #[must_use]
    pub fn new(lr: f64) -> Self {
        Self::with(SgdOptions {
            lr,
            ..SgdOptions::default()
        })
    }

    /// Creates an optimizer with options.
    #[must_use]
    pub fn with(options: SgdOptions) -> Self {
        Self {
            options,
            sums: StateByParam::new(["momentum_buffer"]),
            plain: StateByParam::new([]),
        }
    }

    /// Updates all parameters that have a gradient, and clears the gradients.
    ///
    /// # Errors
    /// If a parameter is not a float, or an allocation fails. Nothing has changed then.
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

    /// Returns the state of each parameter by its path at its last step, which belongs in a checkpoint together with
    /// the model's state. Empty without momentum. If a model has changed since, use [`state_of`](Self::state_of), which
    /// returns the current paths.
    ///
    /// # Panics
    /// If an allocation fails.
    #[must_use]
    #[track_caller]
    pub fn state(&self) -> Vec<(String, DynTensor)> {
        self.sums.state()
    }

    /// Returns the state of the parameters of `model` by their current paths. Empty without momentum.
    ///
    /// # Panics
    /// If an allocation fails.
    #[must_use]
    #[track_caller]
    pub fn state_of(&self, model: &impl Module) -> Vec<(String, DynTensor)> {
        self.sums.state_of(model)
    }

    /// Loads the state of the trained, not frozen, parameters of `model` from `of`, which returns the tensor for a
    /// path.
    ///
    /// # Errors
    /// If `of` fails, or the names, sizes or dtype of a tensor differ from its parameter's. Nothing has changed then.
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
            /// The options of the next step.
            pub options: AdamOptions,
            means: StateByParam<2>,
        }

        impl $name {
            /// Creates an optimizer with PyTorch's defaults and a learning rate.
            #[must_use]
            pub fn new(lr: f64) -> Self {
                Self::with(AdamOptions {
                    lr,
                    ..AdamOptions::$default()
                })
            }

            /// Creates an optimizer with options.
            #[must_use]
            pub fn with(options: AdamOptions) -> Self {
                Self {
                    options,
                    means: StateByParam::new(["exp_avg", "exp_avg_sq"]),
                }
            }

            /// Updates all parameters that have a gradient, and clears the gradients.
            ///
            /// # Errors
            /// If a parameter is not a float, or an allocation fails. Nothing has changed then.
            #[twin]
            pub fn try_step(&mut self, model: &mut impl Module) -> Result<()> {
                let options = self.options;
                self.means.step($op, model, |params| call::adam(params, &options))
            }

            /// Returns the state of each parameter by its path at its last step, which belongs in a checkpoint together
            /// with the model's state. If a model has changed since, use [`state_of`](Self::state_of), which returns
            /// the current paths.
            ///
            /// # Panics
            /// If an allocation fails.
            #[must_use]
            #[track_caller]
            pub fn state(&self) -> Vec<(String, DynTensor)> {
                self.means.state()
            }

            /// Returns the state of the parameters of `model` by their current paths.
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
            /// If an allocation fails.
            #[must_use]
            #[track_caller]
            pub fn state_of(&self, model: &impl Module) -> Vec<(String, DynTensor)> {
                self.means.state_of(model)
            }

            /// Loads the state of the trained, not frozen, parameters of `model` from `of`, which returns the tensor
            /// for a path.
            ///
            /// # Errors
            /// If `of` fails, or the names, sizes or dtype of a tensor differ from its parameter's. Nothing has changed
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
    /// The Adam optimizer: scales each element's update by running means of its gradient and squared gradient. Kingma
    /// and Ba, "Adam: A Method for Stochastic Optimization".
    Adam, "adam", adam
);
adam!(
    /// Adam with decoupled weight decay. Loshchilov and Hutter, "Decoupled Weight Decay Regularization".
    AdamW, "adamw", adamw
);
