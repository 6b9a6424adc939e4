//! Names, rules and dtypes of named tensors, without elements.
//!
//! The foundation of [nomina](https://docs.rs/nomina): what a name is, which lists of names fit together, how dtypes
//! promote, and which operators exist. Every rule exists twice: as a function of [`Names`] in [`rule`], and as a trait of
//! types in [`dims`], by which rustc checks it. Tests compare both.
//!
//! Programs depend on `nomina`, which re-exports the public items. Depend on this crate to check names where no tensors
//! are. It is `no_std` with `alloc`, and without `unsafe`.
//!
//! ```
//! use nomina_core::op::{NameRule, Op};
//! use nomina_core::{DType, ErrorKind, Names, rule};
//!
//! // Names unify from the right; a dim without a name takes that of the other operand.
//! let images = Names::from_static(&[Some("N"), None]);
//! let bias = Names::from_static(&[Some("C")]);
//! let sum = rule::unify("add", &images, &bias)?;
//! assert_eq!(sum, Names::from_static(&[Some("N"), Some("C")]));
//!
//! let rows = Names::from_static(&[Some("N")]);
//! let error = rule::unify("add", &rows, &bias).unwrap_err();
//! assert_eq!(error.kind(), ErrorKind::NameMismatch);
//!
//! assert_eq!(DType::F16.promote(DType::BF16), DType::F32);
//! assert_eq!(Op::from_name("exp").unwrap().row().rule, NameRule::Keeps);
//! # Ok::<(), nomina_core::Error>(())
//! ```
//!
//! | | |
//! |---|---|
//! | [`Name`], [`Names`] | names of dims, and lists of them, for up to [`MAX_DIMS`] dims |
//! | [`rule`] | name inference at run time, a function per rule |
//! | [`dims`] | name inference in types: results such as [`Sum`](dims::Sum), checks such as [`Broadcast`](dims::Broadcast) |
//! | [`mesh`] | placements of tensors over a mesh of processes, in types and as values |
//! | [`op`] | the operator table: [`Op`](op::Op), and its [`Row`](op::Row) of signature, rules and derivative |
//! | [`DType`], [`Element`] | dtypes as values and as types; [`Promote`] and [`DType::promote`] combine two |
//! | [`Scalar`] | a number of any dtype |
//! | [`Layout`], [`MemoryFormat`] | strided or sparse; row-major or channels last |
//! | [`Error`], [`ErrorKind`] | the error of every fallible call, with operator, operands and hint |
//!
//! # Features
//!
//! - `serde`: `Serialize` and `Deserialize` for [`Name`], [`Names`] and [`DType`].
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
