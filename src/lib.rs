//! Named tensors, checked by rustc.
//!
//! `Tensor<(N, C)>` has a dim `N` and a dim `C`, which are types; an operator that mixes them up
//! does not compile. [`DynTensor`] handles what types cannot know, like names from a file or a
//! dtype chosen at run time, with the same rules at run time.
//!
//! ```
//! use nomina::prelude::*;
//!
//! dims! { N, C, H, W, Features }
//!
//! // Dims are named once, where a tensor is made …
//! let images = Tensor::<(N, C, H, W)>::ones([2, 3, 4, 5]);
//! let scale = tensor!([1., 2., 3.]; C);
//!
//! // … and by name from then on.
//! let scaled = &images * scale.align_as(&images);
//! let pooled: Tensor<(N, C)> = scaled.mean((H, W));
//! let flat: Tensor<(N, Features)> = images.flatten((C, H, W), Features);
//! assert_eq!(pooled.to_vec(), [1.0, 2.0, 3.0, 1.0, 2.0, 3.0]);
//! assert_eq!(flat.shape(), [2, 60]);
//!
//! // Operators unify names from the right, as PyTorch's named tensors did.
//! let bias = tensor!([0.5, 0.5, 0.5]; C);
//! let shifted = &pooled + &bias;
//! assert_eq!(shifted.size(N), 2);
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
//! | | |
//! |---|---|
//! | [`dims!`] | declares dims, also with a constant size: `dims! { Rgb = 3 }` |
//! | [`Tensor`] | the typed tensor |
//! | [`TensorMut`] | a part of a tensor, for writing |
//! | [`DynTensor`] | names, rank and dtype at run time |
//! | [`Wild`] | a dim whose name is unknown to rustc |
//! | [`relations`](macro@relations) | writes the bounds of a generic function |
//! | [`dims`](mod@dims) | the bounds and aliases of generic code: `Has`, `Without`, `Broadcast`, `Sum` … |
//!
//! `let N = 3;` does not compile where `dims! { N }` is in scope: a unit struct is a pattern.
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod erased;
pub mod grad;
mod macros;
mod options;
pub mod prelude;
pub mod tensor;

// `#[twin]` expands to `crate::ok` and `crate::done`.
use erased::{done, ok};
pub use half::{bf16, f16};
pub use nomina_core::dims::Wild;
pub use nomina_core::{
    Alike, ComplexElement, Float, IndexElement, Inexact, Integer, Integral, Numeric, Promote,
    PromoteScalar, Promoted, Real, RealNumber, Solvable, StoreAs,
};
pub use nomina_core::{
    Category, DType, Element, Error, ErrorKind, Layout, MemoryFormat, Name, Names, Number, Result,
    Scalar, dims,
};
pub use nomina_macros::relations;
pub use nomina_runtime::grad::{BackwardOptions, enable_grad, is_grad_enabled, no_grad};
#[cfg(feature = "profile")]
pub use nomina_runtime::profile::{self, Profile, profile};
pub use nomina_runtime::random::{initial_seed, seed};
pub use nomina_runtime::{
    AnyLayout, Device, DynSparse, DynTensor, Generator, SparseOperand, allow_unoptimized,
    manual_seed, with_default_dtype,
};
pub use nomina_runtime::{cuda, memory};
pub use num_complex::Complex;
pub use options::*;
pub use tensor::Tensor;
pub use tensor::dynamic::Typed;
pub use tensor::einsum::{
    EinsumTerms, einsum, einsum_all, einsum_first, einsum_named, einsum_operand, einsum_result,
    einsum_times, try_einsum,
};
pub use tensor::extreme::Extremes;
pub use tensor::factory::{Bound, tensor_from_array};
pub use tensor::gather::{EachPoint, Points, PointsOf, ScatterFrom};
pub use tensor::grad::{HasGradient, OneNumber};
pub use tensor::groupwise::{GroupBy, Windows};
pub use tensor::index::{
    AsPick, EachSubscript, Indices, Part, SubscriptViews, Subscripts, SubscriptsOf,
};
pub use tensor::join::{
    JoinEach, Joinable, TensorItem, TensorList, cat, stack, try_cat, try_stack,
};
pub use tensor::loss::{Targets, reduction};
pub use tensor::operand::{
    Absorb, Beside, Combine, OfScalar, OfTensor, Operand, OutDims, OutDtype,
};
pub use tensor::options::Options;
pub use tensor::out_pairs::{cat_out, stack_out, try_cat_out, try_stack_out};
pub use tensor::part_mut::TensorMut;
pub use tensor::random::Probability;
pub use tensor::random_factory::Moments;
pub use tensor::refused::{Brackets, Reshaped};
pub use tensor::shape::{
    ComplexPart, Interleave, Sections, Shifts, Vectors, block_diag, cartesian_prod, meshgrid,
    try_block_diag, try_cartesian_prod, try_meshgrid,
};
pub use tensor::sort::{Unique, Weight};
pub use tensor::sparse::{Sparse, SparseFactor, SparseTerm, Summed};
pub use tensor::view::{SplitSizes, Whole};

/// Types for [`DynTensor`] whose names coincide with types for [`Tensor`].
///
/// The crate `nomina-runtime` has more of it: arguments as traits, operators by their row.
// Rustc prints every name here with its path in errors.
pub mod dynamic {
    pub use nomina_runtime::tensor::gradient::{
        checkpoint, grad, gradients, hessian, jacobian, jvp, per_sample, value_and_grad, vjp,
    };
    pub use nomina_runtime::tensor::{
        BatchNormOptions, BinaryCrossEntropyOptions, CrossEntropyOptions, LayerNormOptions,
        Reduction, RmsNormOptions,
    };
    pub use nomina_runtime::tensor::{CovOptions, DynTensorMut, Index, ReduceOptions, Unique};
}

/// Items that the macros use in a user's crate.
#[doc(hidden)]
pub mod __private {
    pub use nomina_core::op::Op;
    pub use nomina_core::{Element, Names, Scalar, dims};
    pub use nomina_macros as macros;
    pub use nomina_runtime::call::Node;

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
