//! The entries: one per kernel class.
//!
//! Operands are tensors without names and numbers. An entry checks dtypes, sizes and devices,
//! decides the result's dtype and layout, and calls the device's backend. Errors carry sizes;
//! callers that know names add them with `Error::with_names`.

mod allocate;
pub(crate) mod analysis;
mod arg;
pub(crate) mod arithmetic;
mod assign;
mod attention;
pub(crate) mod backend;
mod bytes;
mod check;
mod clamp;
#[cfg(feature = "nccl")]
mod communicator;
mod contract;
mod conv;
mod convert;
mod coo;
mod copy;
mod count;
pub(crate) mod device;
pub(crate) mod direct;
mod distance;
mod divisor;
mod einsum;
mod elements;
mod factory;
#[cfg(feature = "fft")]
mod fft;
mod fused;
mod gather;
mod gemm;
mod index;
#[cfg(feature = "linalg")]
mod linalg;
mod linear;
mod loss;
mod norm;
mod pointwise;
mod processor;
mod product;
mod quantized;
mod random;
mod recurrent;
mod reduce;
mod resize;
mod row_gradient;
mod scan;
mod shape;
pub(crate) mod small;
mod softmax;
mod sort;
mod sparse;
mod sparse_sum;
mod stat;
mod step;

#[cfg(test)]
mod tests;

#[cfg(feature = "fft")]
pub use crate::job::FftNorm;
pub use crate::job::{FinalOp, Interpolation, Node, RecurrentKind, Resize, Update};
pub use crate::raw::strides_like;
pub use arg::{Arg, result_dtype};
pub(crate) use attention::attention_gradients;
pub use attention::{Scores, attention};
pub use bytes::{combine_bytes, combines};
#[cfg(feature = "linalg")]
pub(crate) use check::wrong_entry;
pub use check::{fits_device, same_device};
pub use clamp::{clamp, clamp_bounds};
#[cfg(feature = "nccl")]
pub use communicator::Communicator;
pub use contract::contract;
pub(crate) use conv::weight_gradient;
pub use conv::{
    AvgArgs, Columns, ConvAfter, ConvArgs, ConvSites, ConvWeight, InterpolateMode, MaxArgs,
    PadMode, PadPair, PreparedWeight, TransposedArgs, adaptive_avg, adaptive_max, avg_pool, conv,
    conv_then, conv_transpose, fold, im2col, interpolate, interpolate_antialias, max_pool,
    max_unpool, pad,
};
pub use convert::{clone_in, contiguous, contiguous_in, duplicate, in_place_of, to_dtype, to_in};
pub use copy::{copy_across, copy_into, fill};
pub use count::{bincount, histc, isin, quantile};
pub use device::to_device;
pub use distance::{CdistMode, cdist};
pub use einsum::einsum;
pub use factory::{arange, eye, full, integers};
#[cfg(feature = "fft")]
pub use fft::{convolve, irfft, irfftn, rfft, rfftn, transform};
pub use fused::{FusedReduction, fused, fused_reduce, fused_small};
pub(crate) use fused::{fused_unrecorded, several, stepwise};
pub use gather::{
    ScatterReduce, Target, classes, from_mask, gather, index, index_put, index_select,
    index_update, masked_scatter, nonzero, one_hot, put, reduced, scatter, take, unravel,
};
pub use gemm::{add_product, bmm, dot, matmul, mm, mv};
pub use index::{cat, equal, masked_select, stack};
#[cfg(feature = "linalg")]
pub(crate) use linalg::exponents;
#[cfg(feature = "linalg")]
pub use linalg::{MatrixNorm, MatrixOptions, matrices, solve};
pub use linear::{Activation, add_bias, linear};
pub use loss::{Entropy, Losses, entropy};
pub use norm::{Affine, normalize};
pub use pointwise::{
    pointwise, pointwise_as, pointwise_in_place, pointwise_into, pointwise_owned,
    pointwise_reusing, pointwise_unlike,
};
pub use processor::{Processor, processor};
pub(crate) use product::conjugated;
pub use product::{
    cross, inner, kron, matrix_power, multi_dot, outer, tensordot, trace, vdot, vecdot,
};
pub use quantized::{multiplies_bytes, quantized_matmul};
pub use random::{
    bernoulli, bernoulli_into, multinomial, normal, poisson, rand, randint, randn, random,
    randperm, sampled,
};
pub use recurrent::{RecurrentOutputs, recurrent};
pub(crate) use reduce::room_for_sums;
pub use reduce::{ReduceOptions, arg_position, arg_reduce, reduce};
pub use resize::resize;
pub(crate) use row_gradient::{Scales, norm_weight_gradient, row_gradient};
pub use scan::scan;
pub use shape::{
    Ranges, Window, as_complex, as_real, chunks, cuts, diagonal_matrix, flip, frequencies, imag,
    interleave, join_parts, linspace, logspace, real, repeat, repeated_places, roll, sections,
    triangle, triangle_in_place, triangle_indices, window, windows,
};
pub use small::{
    small_binary, small_binary_in_place, small_repeating, small_same_shape, small_unary,
    small_unary_in_place,
};
pub use softmax::softmax;
pub use sort::{
    UniqueElements, kthvalue, running_extreme, searchsorted, sort, topk, typical, typical_of_all,
    unique,
};
pub use sparse::{
    add as sparse_add, add_dense, coalesce, map as sparse_map, mul as sparse_mul, mul_dense,
    sparse_mask, sparse_permute, sparse_product, sparse_to_dtype, to_dense, to_sparse,
};
pub use sparse_sum::{SparseSum, sparse_sum};
pub use stat::{Spacing, corrcoef, cov, diff, renorm, trapezoid};
pub use step::{
    AdagradOptions, AdamOptions, AverageOptions, LionOptions, RmsPropOptions, SgdOptions,
    StepParam, StepRule,
};
