//! The prelude of programs: `use nomina::prelude::*;`.

pub use crate::dims::{Absorbs, AxesOf, FlattenOthers, UnflattenAs};
pub use crate::dims::{
    AlignInto, Aligned, Axes, Axis, Broadcast, Contract, Contracted, Dim, Dims, Distinct, Flat,
    Flatten, Flattened, Flipped, FullyNamed, Has, Holds, In, IndexOf, Insert, Inserted, MatMul,
    MatMulOn, OneDim, Order, OrderSpec, Prime, Product, Refine, Refined, Rename, RenameArg,
    Renamed, Selected, ShapeFor, Sizes, SpelledAs, Sum, Transposed, Unflatten, Unflattened, Wild,
    Without, keep,
};
pub use crate::dims::{Convolved, SizesOf, SpatialOf, WeightFor};
pub use crate::initial_seed;
pub use crate::{
    Complex, DType, Device, DynTensor, Element, Error, ErrorKind, Float, Generator, Inexact,
    Integral, MemoryFormat, Names, Number, Numeric, Operand, Promote, PromoteScalar, Real,
    RealNumber, Result, Scalar, Tensor, TensorMut, Typed, bf16, cat, dims, einsum, f16, fuse,
    manual_seed, names, relations, stack, tensor, try_einsum, try_fuse, with_default_dtype,
    with_seed,
};
pub use crate::{DynSparse, Sparse, SparseFactor, Summed};
pub use crate::{IndexElement, Part, PointsOf, SubscriptsOf};

pub use crate::options::*;
pub use crate::{block_diag, meshgrid};

/// Returns the default of a type, for the remaining fields of options:
/// `VarOptions { correction: 0.0, ..default() }`.
#[must_use]
pub fn default<T: Default>() -> T {
    T::default()
}
