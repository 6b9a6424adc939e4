//! The tape's records: what each operator saves for its gradient.
//!
//! An entry that computes calls a `record_` function of this room with its result and operands. If an operand requires a gradient,
//! the result gets a node that holds the operator's saved values. How a gradient passes back through them is implemented in
//! `autograd`, above the entries that it is computed with. An operator that is composed of recorded ones records nothing itself.

mod attention;
mod chain;
mod columns;
mod complex;
mod conversion;
mod convolution;
mod derivative;
mod distance;
mod elementwise;
mod entropy;
#[cfg(feature = "fft")]
mod fourier;
mod generated;
mod indexing;
mod join;
#[cfg(feature = "linalg")]
mod linalg;
mod no_derivative;
mod normalize;
mod operand_rule;
mod pad;
mod pool;
mod product;
mod quantile;
mod reductions;
mod resample;
mod target;

pub(crate) use attention::{AttentionSaved, record_attention};
pub(crate) use chain::{ChainSaved, ChainStep, record_chain, steps_to_save};
pub(crate) use columns::{FoldSaved, Im2colSaved, WindowArguments, record_fold, record_im2col};
pub(crate) use complex::{
    Conjugation, ViewAsComplex, ViewAsReal, record_conjugate, record_view_as_complex,
    record_view_as_real,
};
pub(crate) use conversion::{ConversionSaved, record_conversion};
pub(crate) use convolution::{ConvolutionSaved, record_convolution};
pub(crate) use derivative::{Line, Step, narrow};
pub(crate) use distance::{DistanceSaved, record_distances};
pub(crate) use elementwise::{
    LinesSaved, ReducedDims, SameShapeSaved, SavedOperand, record_elementwise, record_reduction,
};
pub(crate) use entropy::{EntropySaved, record_entropy};
#[cfg(feature = "fft")]
pub(crate) use fourier::{
    HalfSpectrumSaved, RealSignalSaved, TransformSaved, record_half_spectrum, record_real_signal,
    record_transform,
};
pub(crate) use generated::lines;
pub(crate) use indexing::{
    Addressing, DimIndex, GatherSaved, ScatterSaved, record_gather, record_scatter,
};
pub(crate) use join::{JoinSaved, TriangleSaved, record_join, record_triangle};
#[cfg(feature = "linalg")]
pub(crate) use linalg::{LinalgSaved, SolutionSaved, record_linalg};
pub(crate) use no_derivative::{
    NoDerivative, check_dense_unrecorded, check_unrecorded, no_derivative, record_no_derivative,
};
pub(crate) use normalize::{NormalizeSaved, record_normalize};
#[cfg(feature = "linalg")]
pub(crate) use operand_rule::record_saved;
pub(crate) use operand_rule::{Backward, OperandRule, Upstream};
pub(crate) use pad::{PadSaved, record_pad};
pub(crate) use pool::{
    MaxPoolSaved, MaxUnpoolSaved, record_average_pool, record_max_pool, record_max_unpool,
};
pub(crate) use product::{ProductSaved, record_product};
pub(crate) use quantile::{QuantileSaved, record_quantiles};
pub(crate) use reductions::{
    CumprodSaved, CumsumSaved, Dims, ExtremeSaved, LogcumsumexpSaved, NormSaved, ProdSaved,
    record_extreme, record_norm, record_prod, record_scan,
};
pub(crate) use resample::{AxisWeights, LinearSaved, record_linear};
pub(crate) use target::{GradTarget, has_gradient};
