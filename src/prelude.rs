//! What a program that uses nomina imports: `use nomina::prelude::*;`.

pub use crate::dims::{Absorbs, AxesOf, FlattenOthers, UnflattenAs};
pub use crate::dims::{
    AlignInto, Aligned, Axes, Axis, Broadcast, Contract, Contracted, Dim, Dims, Distinct, Flat,
    Flatten, Flattened, Flipped, FullyNamed, Has, Holds, In, IndexOf, Insert, Inserted, MatMul,
    OneDim, Order, OrderSpec, Prime, Product, Refine, Refined, Rename, RenameArg, Renamed,
    Selected, ShapeFor, Sizes, SpelledAs, Sum, Transposed, Unflatten, Unflattened, Wild, Without,
    keep,
};
pub use crate::dims::{Convolved, SizesOf, SpatialOf, WeightFor};
pub use crate::{
    Activation, AddOptions, AddmmOptions, AttentionOptions, CdistOptions, Complex, DType, Device,
    DynTensor, Element, Error, ErrorKind, Float, Generator, Inexact, Integral, LikeOptions,
    LinearOptions, MemoryFormat, Names, NormOptions, Number, Numeric, Operand, Promote,
    PromoteScalar, Real, RealNumber, ReduceOptions, Result, Scalar, Tensor, TensorMut, Typed,
    VarOptions, bf16, cat, dims, einsum, f16, fuse, manual_seed, names, relations, stack, tensor,
    try_einsum, try_fuse, with_default_dtype,
};
pub use crate::{
    AddcdivOptions, AddcmulOptions, Approximate, CeluOptions, CloseOptions, DivOptions, EluOptions,
    GeluOptions, HardshrinkOptions, HardtanhOptions, LeakyReluOptions, LogitOptions,
    NanToNumOptions, RoundOptions, RoundingMode, SoftplusOptions, SoftshrinkOptions,
};
pub use crate::{
    AlphaDropoutOptions, CosineSimilarityOptions, DropoutOptions, GaussianNllLossOptions,
    HingeEmbeddingLossOptions, HuberLossOptions, KlDivOptions, LocalResponseNormOptions,
    MarginOptions, NormalizeOptions, PairwiseDistanceOptions, PoissonNllLossOptions, RreluOptions,
    SmoothL1LossOptions, TripletMarginLossOptions,
};
pub use crate::{
    AvgPoolOptions, ColumnsOptions, ConvOptions, ConvTransposeOptions, InterpolateMode,
    InterpolateOptions, LpPoolOptions, MaxPoolOptions, PadMode, PadOptions, Padding,
};
pub use crate::{
    BatchNormOptions, BinaryCrossEntropyOptions, CrossEntropyOptions, LayerNormOptions,
    RmsNormOptions,
};
pub use crate::{DynSparse, Sparse, SparseFactor, Summed};
pub use crate::{
    IndexAddOptions, IndexElement, IndexPutOptions, Part, PointsOf, ScatterOptions, ScatterReduce,
    ScatterReduceOptions, SubscriptsOf,
};
pub use crate::{MultinomialOptions, initial_seed};

pub use crate::{
    DiagEmbedOptions, DiagonalOptions, HammingOptions, Indexing, KaiserOptions, LogspaceOptions,
    MeshgridOptions, Rot90Options, VanderOptions, WindowOptions, block_diag, meshgrid,
};

pub use crate::{
    BincountOptions, CovOptions, DiffOptions, HistcOptions, Interpolation, IsinOptions,
    QuantileOptions, SearchOptions, SortOptions, TopkOptions, TrapezoidOptions,
};

/// The default of a type, to fill up options: `VarOptions { correction: 0.0, ..default() }`.
#[must_use]
pub fn default<T: Default>() -> T {
    T::default()
}
