//! Optimizers: a step updates all parameters of a model by their gradients, and clears the
//! gradients.
//!
//! ```
//! use nomina::prelude::*;
//! use nomina_nn::optim::{AdamOptions, schedule};
//! use nomina_nn::prelude::*;
//! dims! { N, In, Out }
//!
//! manual_seed(0);
//! let mut model = Linear::new(In.of(3), Out.of(1));
//! let x = Tensor::<(N, In)>::randn([32, 3]);
//! let y: Tensor<(N, Out)> = x.contract(&tensor!([[1., -2., 0.5]]; Out, In), In);
//!
//! let mut optimizer = AdamW::with(AdamOptions { weight_decay: 0.0, ..AdamOptions::adamw() });
//! for step in 0..300 {
//!     optimizer.options.lr = 0.1 * schedule::cosine(step, 10, 300);
//!     model.forward(&x).mse_loss(&y).backward();
//!     clip_grad_norm(&model, 1.0);
//!     optimizer.step(&mut model);
//! }
//! assert!(model.forward(&x).mse_loss(&y).item() < 1e-4);
//! ```

mod accumulate;
mod clip;
mod ema;
mod lbfgs;
mod loss;
mod muon;
mod optimizer;
mod scale;
pub mod schedule;
mod state;
mod wolfe;

pub use accumulate::Accumulation;
pub use clip::{clip_grad_norm, try_clip_grad_norm};
pub use ema::Ema;
pub use lbfgs::{Lbfgs, LbfgsOptions};
pub use loss::Loss;
pub use muon::{AdjustLr, MuonOptions};
pub use nomina_runtime::call::{
    AdagradOptions, AdamOptions, LionOptions, RmsPropOptions, SgdOptions,
};
pub use optimizer::{
    Adagrad, Adam, AdamW, Lion, Muon, Optimizer, RmsProp, Rule, Sgd, is_bias_or_norm, rule,
};
pub use scale::LossScale;
