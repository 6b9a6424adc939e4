//! Tensors as values: storage, views, names at run time, gradients, and kernels for CPUs and CUDA.
//!
//! The run time of [nomina](https://docs.rs/nomina). Programs depend on `nomina`, whose typed tensors end in the same
//! calls, and which re-exports what programs need. Depend on this crate directly for what `nomina` leaves out: tensors
//! without names, the entries of kernels, operators with a backward pass of your own.
//!
//! ```
//! use nomina_core::ErrorKind;
//! use nomina_runtime::DynTensor;
//!
//! let x = DynTensor::from_vec(vec![1.0_f32, 2.0, 3.0, 4.0], &[2, 2], ["N", "C"])?;
//! let w = DynTensor::from_vec(vec![1.0_f32, 10.0], &[2], ["C"])?.with_grad()?;
//!
//! let y = x.mul(&w)?.sum("C")?;
//! assert_eq!(y.names().to_string(), "(N,)");
//! assert_eq!(y.to_vec::<f32>()?, [21.0, 43.0]);
//!
//! let error = y.add(&w).unwrap_err();
//! assert_eq!(error.kind(), ErrorKind::NameMismatch);
//!
//! y.sum(..)?.backward()?;
//! assert_eq!(w.grad().unwrap().to_vec::<f32>()?, [4.0, 6.0]);
//! # Ok::<(), nomina_core::Error>(())
//! ```
//!
//! A call goes through three layers: [`call`] checks dtypes and sizes and decides the result's layout, a planner orders
//! and merges dims, and the device's backend runs a kernel over them. Nothing below [`tensor`] sees a name.
//!
//! | | |
//! |---|---|
//! | [`DynTensor`], [`tensor`] | a tensor with names, rank and dtype at run time, and the options of its methods |
//! | [`DynSparse`] | a sparse tensor of coordinates |
//! | [`Raw`], [`raw`], [`storage`] | a tensor without names, its views and its shared buffer |
//! | [`call`] | one entry per kernel class, on tensors without names |
//! | [`grad`] | gradients, derivatives of functions, [`custom`](grad::custom) operators |
//! | [`Device`], [`cuda`] | devices, and the CUDA backend |
//! | [`Generator`], [`random`] | random numbers that are the same for any number of threads and on any device |
//! | [`memory`], [`config`] | the cache of freed blocks, and settings per thread |
//! | [`display`], [`file`](mod@file) | tensors as text and HTML; files that are written completely or not at all |
//!
//! # Features
//!
//! None is on by default, and none needs an installed library to build.
//!
//! - `cuda`: CUDA devices. `cuda-kernels` adds compiled kernels, `nccl` communication between devices. The libraries are
//!   loaded when they are first used.
//! - `fft`, `linalg`: Fourier transforms by `rustfft`, decompositions and solvers by `faer`.
//! - `rayon`: kernels run on all cores. Without it they run on the calling thread.
//! - `dlpack`: tensors of other libraries in the same process, without a copy.
//! - `mmap`, `ndarray`, `serde`: mapped files, conversions of arrays, serialization.
//! - `profile`, `tracing`: a table of what operators cost, a span for each.
#![cfg_attr(docsrs, feature(doc_cfg))]

// Depends on this library built without its tests: what that has compiled of other crates' generic code, such as faer's
// decompositions, is linked and not compiled again, which saves a third of the build of the unit tests.
#[cfg(test)]
use nomina_by_name as _;

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
pub use random::{Generator, manual_seed, with_seed};
pub use raw::{Raw, RawMut, Strided};
pub use tensor::{AnyLayout, DynSparse, DynTensor, SparseOperand};

pub(crate) use smallvec::SmallVec;
