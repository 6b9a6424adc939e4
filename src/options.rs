//! Optional arguments of operators, and their enums.

pub use nomina_runtime::tensor::{
    Activation, AddOptions, AddcdivOptions, AddcmulOptions, AddmmOptions, AlphaDropoutOptions,
    Approximate, AttentionOptions, AvgPoolOptions, BincountOptions, CdistOptions, CeluOptions,
    CloseOptions, ColumnsOptions, ConvOptions, ConvTransposeOptions, CosineSimilarityOptions,
    DiagEmbedOptions, DiagonalOptions, DiffOptions, DivOptions, DropoutOptions, EluOptions,
    EmbeddingOptions, GaussianNllLossOptions, GeluOptions, HammingOptions, HardshrinkOptions,
    HardtanhOptions, HingeEmbeddingLossOptions, HistcOptions, HuberLossOptions, IndexAddOptions,
    IndexPutOptions, Indexing, InterpMethod, InterpOptions, InterpolateMode, InterpolateOptions,
    Interpolation, IsinOptions, KaiserOptions, KlDivOptions, LeakyReluOptions, LinearOptions,
    LocalResponseNormOptions, LogitOptions, LogspaceOptions, LpPoolOptions, MarginOptions,
    MaxPoolOptions, MeshgridOptions, MultinomialOptions, NanToNumOptions, NormOptions,
    NormalizeOptions, PadMode, PadOptions, Padding, PairwiseDistanceOptions, PoissonNllLossOptions,
    QuantileOptions, Rot90Options, RoundOptions, RoundingMode, RreluOptions, ScatterOptions,
    ScatterReduce, ScatterReduceOptions, SearchOptions, SmoothL1LossOptions, SoftplusOptions,
    SoftshrinkOptions, SortOptions, TopkOptions, TrapezoidOptions, TripletMarginLossOptions,
    VanderOptions, VarOptions, WindowOptions,
};

#[cfg(feature = "fft")]
pub use nomina_runtime::tensor::{FftNorm, FftOptions};
#[cfg(feature = "linalg")]
pub use nomina_runtime::tensor::{MatrixNorm, Tolerance, TriangularOptions};

pub use crate::tensor::factory_like::LikeOptions;
pub use crate::tensor::loss::{BinaryCrossEntropyOptions, CrossEntropyOptions};
pub use crate::tensor::norm::{BatchNormOptions, LayerNormOptions, RmsNormOptions};
pub use crate::tensor::reduce::ReduceOptions;
pub use crate::tensor::stat::CovOptions;
