//! The prelude for programs with networks: `use nomina_nn::prelude::*;`, in addition to nomina's own prelude.

pub use crate::data::{Batch, Dataset, Loader, length_mask, pad_sequences, try_pad_sequences};
pub use crate::layers::*;
pub use crate::optim::{
    Adagrad, Adam, AdamW, Lbfgs, Lion, LossScale, Muon, RmsProp, Sgd, clip_grad_norm,
};
pub use crate::{
    Batches, Mode, Module, Param, Sampling, Strict, ToDtype, TokenSampler, autocast, from_torch,
    generate,
};
