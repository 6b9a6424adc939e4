//! Values of nomina: buffers, views, kernels.
//!
//! A call goes through three layers: [`call`] checks dtypes and sizes and decides the result's
//! layout, a planner orders and merges dims, and the device's backend runs a kernel over them.
//! Nothing below [`tensor`] sees a name.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod autograd;
pub mod call;
pub mod config;
mod cpu;
pub mod cuda;
mod device;
mod dispatch;
pub mod display;
pub mod file;
mod job;
pub mod memory;
mod plan;
#[cfg_attr(not(feature = "profile"), path = "profile/off.rs")]
pub mod profile;
pub mod random;
pub mod raw;
pub mod shape;
pub mod storage;
mod tape;
pub mod tensor;

/// Gradients: from a tensor back to the leaves that it was computed from, and derivatives of functions.
pub mod grad {
    pub use crate::autograd::*;
}

pub use config::{allow_unoptimized, default_dtype, with_default_dtype};
pub use device::Device;
pub use random::{Generator, manual_seed};
pub use raw::{Raw, RawMut, Strided};
pub use tensor::{AnyLayout, DynSparse, DynTensor, SparseOperand};

pub(crate) use smallvec::SmallVec;
