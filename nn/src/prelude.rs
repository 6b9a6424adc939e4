//! The prelude for programs with networks: `use nomina_nn::prelude::*;`, in addition to nomina's own prelude.

pub use crate::layers::*;
pub use crate::optim::{Adam, AdamW, Sgd, clip_grad_norm};
pub use crate::{Batches, Module, Param};
