//! Files of named tensors: safetensors, zarr, npy, npz, PNG, and those of PyTorch.
//!
//! A file's tensor is opened as the requested type: a [`Tensor`](nomina::Tensor), whose names, constant sizes and dtype
//! are checked, or a [`DynTensor`](nomina::DynTensor), which accepts any. Files are written under a temporary name and
//! renamed when they are complete. A corrupt file gives an [`Error`](nomina::Error) that names it, whatever its
//! contents.
//!
//! ```
//! use nomina::prelude::*;
//! use nomina_io::safetensors::{self, SafeTensors};
//! dims! { Out, In }
//!
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = folder.path().join("model.safetensors");
//! let w: Tensor<(Out, In)> = Tensor::ones([2, 3]);
//! safetensors::save(&path, [("w", w)])?;
//!
//! let file = SafeTensors::open(&path)?;
//! let w = file.tensor::<Tensor<(Out, In)>>("w")?;
//! let error = file.tensor::<Tensor<(In, Out)>>("w").unwrap_err();
//! assert!(error.to_string().contains("dim `Out` is not `In`, but the type has dims (In, Out)"));
//! assert!(error.to_string().contains("dims (Out=2, In=3)"));
//! # assert_eq!(w.to_vec(), [1.0; 6]);
//! # Ok::<(), Error>(())
//! ```
//!
//! # Features
//!
//! Each format is a feature and a module. All but `image` are on by default.
//!
//! | module | feature | names in the file | read | written |
//! |---|---|---|---|---|
//! | [`npy`] | `npy` | none | mapped, without a copy | at once |
//! | [`npz`] | `npz` | none | array by array | at once |
//! | [`png`] | `png` | none | pixel by pixel | at once |
//! | [`pth`] | `pth` | none | mapped, without a copy | no |
//! | [`safetensors`] | `safetensors` | in the metadata | mapped, without a copy | at once |
//! | [`zarr`] | `zarr` | its own | by boxes | by boxes |
//!
//! With the feature `blosc`, chunks of zarr may be compressed by blosc. With the feature `image`, images of the crate of that name convert to and from tensors without a copy.
//!
//! [`OpenAs`] is the trait of the types that a file can be opened as. Checkpoints of several safetensors files are one
//! [`Checkpoint`](safetensors::Checkpoint), also those of other programs. An array in zarr may be larger than memory.
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]
// Code shared by the formats is unused without any of them.
#![cfg_attr(
    not(any(
        feature = "npy",
        feature = "png",
        feature = "pth",
        feature = "safetensors",
        feature = "zarr"
    )),
    allow(dead_code)
)]

#[cfg(target_endian = "big")]
compile_error!("the elements of files are little-endian, and so must be the machine's");

#[cfg(any(
    feature = "npz",
    feature = "pth",
    feature = "safetensors",
    feature = "zarr"
))]
mod describe;
#[cfg(any(
    feature = "npz",
    feature = "pth",
    feature = "safetensors",
    feature = "zarr"
))]
mod description;
#[cfg(any(
    feature = "npz",
    feature = "pth",
    feature = "safetensors",
    feature = "zarr"
))]
#[cfg_attr(not(any(feature = "pth", feature = "safetensors")), allow(dead_code))]
mod foreign;
#[cfg(feature = "image")]
pub mod image;
#[cfg(any(feature = "safetensors", feature = "zarr"))]
mod json;
#[cfg(feature = "npy")]
pub mod npy;
#[cfg(feature = "npz")]
pub mod npz;
mod open;
#[cfg(any(feature = "image", feature = "png"))]
mod picture;
#[cfg(feature = "png")]
pub mod png;
#[cfg(feature = "pth")]
pub mod pth;
#[cfg(feature = "safetensors")]
pub mod safetensors;
#[cfg(any(feature = "npy", feature = "zarr"))]
mod unsigned;
#[cfg(feature = "zarr")]
pub mod zarr;

#[cfg(any(
    feature = "npz",
    feature = "pth",
    feature = "safetensors",
    feature = "zarr"
))]
pub use self::{
    describe::{Format, describe},
    description::TensorDescription,
    foreign::ForeignDType,
};
pub use open::OpenAs;

/// The guide to files; its snippets run as doc tests.
#[cfg(all(
    doctest,
    feature = "image",
    feature = "npz",
    feature = "png",
    feature = "pth",
    feature = "safetensors",
    feature = "zarr"
))]
#[doc = include_str!("../../docs/files.md")]
pub struct Files;

/// The example of the README, run as a test.
#[cfg(all(doctest, feature = "safetensors"))]
#[doc = include_str!("../README.md")]
pub struct Readme;
