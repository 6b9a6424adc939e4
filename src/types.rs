//! Bounds on dtypes, and types of arguments and results that programs rarely name.
//!
//! All are at the root of the crate as well, and those that generic functions need are in the
//! [`prelude`](crate::prelude).
//!
//! | | |
//! |---|---|
//! | [`Float`], [`Inexact`], [`Real`], [`Integer`], [`Integral`], [`Numeric`], [`ComplexElement`] | bounds on the dtype of elements |
//! | [`IndexElement`], [`Weight`], [`Targets`], [`Solvable`], [`Alike`], [`ComplexPart`] | bounds that single operators need |
//! | [`Promote`], [`Promoted`], [`PromoteScalar`], [`StoreAs`] | the dtype of a result, and whether it can be stored |
//! | [`Number`], [`RealNumber`] | numbers as operands |
//! | [`Operand`], [`Combine`], [`Absorb`] | operands: tensors, owned or borrowed, and numbers |
//! | [`Subscripts`], [`Indices`], [`Points`], [`SplitSizes`], [`Sections`], [`Shifts`] | arguments by dim |
//! | [`TensorList`], [`Joinable`], [`Vectors`] | lists of tensors |
//! | [`Typed`] | from [`DynTensor`](crate::DynTensor) to types |
//! | [`Extremes`], [`Unique`], [`Summed`] | results |

pub use nomina_core::{
    Alike, Category, ComplexElement, Float, IndexElement, Inexact, Integer, Integral, Number,
    Numeric, Promote, PromoteScalar, Promoted, Real, RealNumber, Solvable, StoreAs,
};
pub use nomina_runtime::{AnyLayout, SparseOperand};

pub use crate::tensor::dynamic::Typed;
pub use crate::tensor::einsum::EinsumTerms;
pub use crate::tensor::extreme::Extremes;
pub use crate::tensor::factory::Bound;
pub use crate::tensor::gather::{EachPoint, Points, PointsOf, ScatterFrom};
pub use crate::tensor::grad::{HasGradient, OneNumber};
pub use crate::tensor::groupwise::{GroupBy, Windows};
pub use crate::tensor::index::{
    AsPick, EachSubscript, Indices, Part, SubscriptViews, Subscripts, SubscriptsOf,
};
pub use crate::tensor::join::{JoinEach, Joinable, TensorItem, TensorList};
pub use crate::tensor::loss::{TargetDims, Targets};
pub use crate::tensor::operand::{
    Absorb, Beside, Combine, OfScalar, OfTensor, Operand, OutDims, OutDtype,
};
pub use crate::tensor::options::Options;
pub use crate::tensor::query::OneElement;
pub use crate::tensor::random::Probability;
pub use crate::tensor::random_factory::Moments;
pub use crate::tensor::refused::{Brackets, Reshaped};
pub use crate::tensor::shape::{ComplexPart, Interleave, Sections, Shifts, Vectors};
pub use crate::tensor::sort::{Unique, Weight};
pub use crate::tensor::sparse::{SparseFactor, SparseTerm, Summed};
pub use crate::tensor::view::{SplitSizes, Whole};
