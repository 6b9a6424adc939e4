//! Values of nomina: buffers, views, kernels.
//!
//! One call goes through here as HOUSE has it: [`call`] checks dtypes and sizes and decides the
//! result's layout, a [`plan`](crate) orders and merges dims, the device's backend runs one kernel
//! class over it. Nothing below [`tensor`] sees a name.

mod backend;
pub mod call;
pub mod config;
mod cpu;
mod dispatch;
pub mod display;
mod plan;
pub mod random;
pub mod raw;
pub mod shape;
pub mod storage;
pub mod tensor;

pub use config::{default_dtype, with_default_dtype};
pub use random::{Generator, manual_seed};
pub use raw::{Raw, RawMut, Strided};
pub use tensor::{DynTensor, invoke};

pub(crate) use smallvec::SmallVec;
