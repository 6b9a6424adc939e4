//! ONNX models of nomina's named tensors.
//!
//! [`Model`] reads a file of ONNX, names the dims of its values, and runs it: inputs and outputs are named tensors.
//!
//! ```no_run
//! use nomina::DynTensor;
//! use nomina_onnx::Model;
//!
//! let model = Model::open("digits.onnx")?;
//! for input in model.inputs() {
//!     println!("{input}");                            // image: (Batch, Channel, H, W) f32
//! }
//! let image = DynTensor::zeros(&[1, 1, 28, 28], ["Batch", "Channel", "H", "W"])?;
//! let outputs = model.run([("image", &image)])?;
//! println!("{}", outputs.get("scores")?);
//! # Ok::<(), nomina_core::Error>(())
//! ```
//!
//! An input with other names, sizes or another dtype is an error before anything is computed, and so is an operator that
//! the crate lacks, when the file is opened. A corrupt file gives an error that names it.
//!
//! | | |
//! |---|---|
//! | [`Model`] | a file that was read: its inputs and outputs, and [`run`](Model::run) |
//! | [`Port`], [`DimClass`] | an input or an output, and dims of a model that have one name |
//! | [`DimNames`] | names that you give to dims, from `names.toml` |
//! | [`Outputs`] | the results of a run, by name |
//! | [`import`], [`ImportOptions`] | writes a model as Rust with named weights: `cargo nomina import` |
//! | [`supports`], [`NEWEST_OPSET`] | the operators and versions of ONNX that run |
//! | [`read_tensor`] | a tensor in ONNX's format |
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod call;
mod draft;
mod emit;
mod fold;
mod fuse;
mod graph;
mod model;
mod names;
mod ops;
mod port;
mod proto;
mod run;
mod table;
mod value;

pub use emit::{ImportOptions, Imported, import, open_for_import};
pub use graph::StatedSize;
pub use model::{Model, Outputs, read_tensor};
pub use names::DimClass;
pub use names::user::DimNames;
pub use ops::supports;
pub use port::Port;
pub use table::NEWEST_OPSET;

#[cfg(doctest)]
#[doc = include_str!("../../docs/models.md")]
pub struct Guide;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
