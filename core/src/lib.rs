//! Names and rules of nomina's named tensors.
//!
//! This crate holds no tensor data. It defines what a [`Name`] is, how two lists of names unify
//! ([`rule`]), how dtypes promote ([`DType`]) and which operators exist ([`op`]). The same rules
//! are written once more in types ([`dims`]), so that rustc can check them.
//!
//! Users import `nomina`, which re-exports the public items.
#![no_std]
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

extern crate alloc;

pub mod dims;
mod dtype;
mod element;
mod error;
mod layout;
pub mod mesh;
mod name;
pub mod op;
pub mod rule;
mod scalar;
#[cfg(feature = "serde")]
mod serde;

pub use dtype::{Category, DType, Promoter};
pub use element::*;
pub use error::{Error, ErrorKind, Operand, Result};
pub use layout::{Layout, MemoryFormat};
pub use name::{MAX_DIMS, Name, Names};
pub use scalar::Scalar;
