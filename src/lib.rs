//! Tensors whose dims have names, checked by rustc.
//!
//! A `Tensor<(N, C)>` has a dim `N` and a dim `C`, which are types; an operator that mixes them up does not compile. A
//! [`DynTensor`] follows the same rules at run time, for what types cannot know: names from a file, a dtype chosen by the
//! user.
//!
//! ```
//! use nomina::prelude::*;
//!
//! dims! { N, C, H, W, Features, Class }
//!
//! // Dims are named once, where a tensor is made …
//! let images = Tensor::<(N, C, H, W)>::ones([2, 3, 4, 5]);
//! let scale = tensor!([1., 2., 3.]; C);
//!
//! // … and by name from then on.
//! let scaled = &images * scale.align_as(&images);
//! let pooled: Tensor<(N, C)> = scaled.mean((H, W));
//! assert_eq!(pooled.to_vec(), [1.0, 2.0, 3.0, 1.0, 2.0, 3.0]);
//!
//! // Operators unify names from the right, as PyTorch's named tensors did.
//! let shifted = &pooled + tensor!([0.5, 0.5, 0.5]; C);
//! assert_eq!(shifted.size(N), 2);
//!
//! // A product names the dim that it sums over.
//! let flat: Tensor<(N, Features)> = images.flatten((C, H, W), Features);
//! let weight = Tensor::<(Class, Features)>::ones([10, 60]);
//! let scores: Tensor<(N, Class)> = flat.contract(&weight, Features);
//! assert_eq!(scores.shape(), [2, 10]);
//! ```
//!
//! Names that do not match are type errors:
//!
//! ```compile_fail,E0277
//! use nomina::prelude::*;
//! dims! { N, C }
//! let x = Tensor::<(N, C)>::zeros([2, 3]);
//! let y = Tensor::<(N,)>::zeros([2]);
//! // error: dim `C` and dim `N` are at the same position from the right but do not match
//! let z = &x + &y;
//! ```
//!
//! # Map
//!
//! | you want to | begin at |
//! |---|---|
//! | declare dims, also of constant size: `dims! { Rgb = 3 }` | [`dims!`] |
//! | make tensors and call operators | [`tensor!`], [`Tensor`]; [`tensor`](mod@tensor) lists methods by family |
//! | multiply by names, compute a chain in one pass | [`einsum!`], [`fuse!`] |
//! | have names, rank and dtype at run time | [`DynTensor`]; in a typed tensor, [`Wild`] |
//! | write generic functions | [`relations`](macro@relations), and the bounds and aliases of [`dims`](mod@dims) |
//! | differentiate | [`grad`](mod@grad) |
//! | select, group and align by label: dates, latitudes, names | `labelled` (feature `labels`) |
//! | loop over a dim: scans, a function of each slice | [`loops`] |
//! | write to a part of a tensor, compute with sparse tensors | [`TensorMut`], [`Sparse`] |
//! | pass optional arguments | [`options`]; [`types`] has other types of arguments and results |
//! | handle mistakes of sizes, files and devices | [`Error`]; a method `x` that can fail has a form `try_x` |
//! | run on a GPU, limit memory, seed | [`Device`], [`cuda`], [`memory`], [`manual_seed`], [`with_seed`] |
//!
//! `let N = 3;` does not compile where `dims! { N }` is in scope: a unit struct is a pattern.
//!
//! The packages `nomina-nn` (networks), `nomina-io` (files), `nomina-mesh` and `nomina-mpi` (many processes) build on this
//! one, and `cargo-nomina` fixes dim errors. The guides are in the folder `docs` of this package.
//!
//! # Features
//!
//! - `rayon`, on by default: kernels run on all cores.
//! - `ndarray`, on by default: conversions from and to arrays of `ndarray`.
//! - `cuda`: CUDA devices; builds without CUDA. `cuda-kernels` adds compiled kernels.
//! - `labels`: tensors with [labels](mod@labelled) along their dims, such as latitudes and dates.
//! - `dlpack`: tensors of NumPy, PyTorch and others in the same process ([`DynTensor::from_dlpack`]).
//! - `fft`, `linalg`: Fourier transforms, decompositions and solvers.
//! - `serde`: `Serialize` and `Deserialize` of tensors, with names.
//! - `profile`, `tracing`: a table of what operators cost, a span for each.
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod erased;
pub mod grad;
#[cfg(feature = "labels")]
pub mod labelled;
pub mod loops;
mod macros;
pub mod options;
pub mod prelude;
pub mod tensor;
pub mod types;

// `#[twin]` expands to `crate::ok` and `crate::done`.
use erased::{done, ok};
pub use half::{bf16, f16};
#[cfg(feature = "labels")]
pub use jiff;
#[cfg(feature = "labels")]
#[doc(inline)]
pub use labelled::{DynLabelled, Labelled, Labels, Timestamp, at, inner, nearest, outer};
pub use nomina_core::dims;
#[doc(inline)]
pub use nomina_core::dims::Wild;
#[doc(inline)]
pub use nomina_core::{
    DType, Element, Error, ErrorKind, Layout, MemoryFormat, Name, Names, Result, Scalar,
};
#[doc(inline)]
pub use nomina_macros::relations;
#[doc(inline)]
pub use nomina_runtime::grad::{BackwardOptions, enable_grad, is_grad_enabled, no_grad};
#[cfg(feature = "profile")]
#[doc(inline)]
pub use nomina_runtime::profile::{self, Profile, profile};
#[doc(inline)]
pub use nomina_runtime::random::{initial_seed, seed};
#[cfg(feature = "dlpack")]
#[doc(inline)]
pub use nomina_runtime::raw::dlpack;
#[doc(inline)]
pub use nomina_runtime::{
    Device, DynSparse, DynTensor, Generator, allow_unoptimized, cuda, manual_seed, memory,
    with_default_dtype, with_seed,
};
pub use num_complex::Complex;
pub use options::*;
#[doc(inline)]
pub use tensor::Tensor;
pub use tensor::einsum::{
    einsum, einsum_all, einsum_first, einsum_named, einsum_operand, einsum_result, einsum_times,
    try_einsum,
};
pub use tensor::factory::tensor_from_array;
#[doc(inline)]
pub use tensor::join::{cat, stack, try_cat, try_stack};
#[doc(inline)]
pub use tensor::loss::reduction;
#[doc(inline)]
pub use tensor::out_pairs::{cat_out, stack_out, try_cat_out, try_stack_out};
#[doc(inline)]
pub use tensor::part_mut::TensorMut;
#[doc(inline)]
pub use tensor::shape::{
    block_diag, cartesian_prod, meshgrid, try_block_diag, try_cartesian_prod, try_meshgrid,
};
#[doc(inline)]
pub use tensor::sparse::Sparse;
pub use types::*;

/// Types for [`DynTensor`] whose names coincide with types for [`Tensor`].
///
/// The crate `nomina-runtime` has more of it: arguments as traits, operators by their row.
// Rustc prints every name here with its path in errors.
pub mod dynamic {
    pub use nomina_runtime::tensor::gradient::{
        checkpoint, grad, gradients, hessian, jacobian, jvp, per_sample, value_and_grad, vjp,
    };
    pub use nomina_runtime::tensor::loops::{associative_scan, map_over, scan};
    pub use nomina_runtime::tensor::{
        BatchNormOptions, BinaryCrossEntropyOptions, CrossEntropyOptions, LayerNormOptions,
        Reduction, RmsNormOptions,
    };
    pub use nomina_runtime::tensor::{
        CovOptions, DynTensorMut, Index, IntoOperand, ReduceOptions, Unique,
    };
}

/// Items that the macros use in a user's crate.
#[doc(hidden)]
pub mod __private {
    pub use nomina_core::op::Op;
    pub use nomina_core::{Element, Names, Scalar, dims};
    pub use nomina_macros as macros;
    pub use nomina_runtime::call::Node;

    pub use crate::erased::{MaybeOwned, OperandRef};
    pub use crate::tensor::einsum::{
        einsum, einsum_all, einsum_first, einsum_named, einsum_operand, einsum_result,
        einsum_stand_in, einsum_times, try_einsum,
    };
    pub use crate::tensor::factory::tensor_from_array;
    pub use crate::tensor::fused::{fuse, fuse_operand};

    /// The value of a macro call with mistakes: such a program does not compile.
    #[must_use]
    pub const fn stand_in<V>() -> V {
        panic!("a macro was called with mistakes")
    }
}

/// The examples of the README, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;

/// The first page of the guide, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../docs/start.md")]
pub struct Start;

/// The guide to names, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../docs/names.md")]
pub struct NamesGuide;

/// The guide to generic code, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../docs/generic_code.md")]
pub struct GenericCode;

/// The guide for users of PyTorch, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../docs/torch_users.md")]
pub struct TorchUsers;

/// The guide to analysis by name, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../docs/analysis.md")]
pub struct Analysis;

/// The guide to getting values in and out, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../docs/values.md")]
pub struct Values;

/// The guide to tensors whose names are data, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../docs/dynamic.md")]
pub struct Dynamic;

/// The guide to looking at tensors and profiling, run as tests.
#[cfg(all(doctest, feature = "profile"))]
#[doc = include_str!("../docs/look.md")]
pub struct Look;

/// The guide to gradients, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../docs/gradients.md")]
pub struct Gradients;

/// The guide to the environment of a program, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../docs/environment.md")]
pub struct Environment;

/// The guide to linear algebra, run as tests.
#[cfg(all(doctest, feature = "fft", feature = "linalg"))]
#[doc = include_str!("../docs/linalg.md")]
pub struct LinearAlgebra;
