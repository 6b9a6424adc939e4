//! How a gradient passes back through each operator, from the values that `tape` saved.
//!
//! Rules are computed with the entries of `call`, which record again, so that gradients have gradients.

#[cfg(feature = "linalg")]
mod adjugate;
mod attention;
mod chain;
mod columns;
mod complex;
mod conversion;
mod convolution;
#[cfg(feature = "linalg")]
mod decomposition;
mod deferred;
mod distance;
mod entropy;
mod evaluation;
mod folding;
#[cfg(feature = "fft")]
mod fourier;
mod indexing;
mod join;
#[cfg(feature = "linalg")]
mod linalg;
mod lines;
#[cfg(feature = "linalg")]
mod matrices;
#[cfg(feature = "linalg")]
mod matrix_scale;
mod normalize;
mod operand_rule;
mod overwrite;
mod pad;
mod pool;
mod product;
mod program;
mod quantile;
mod reductions;
mod resample;
mod target;
mod view;

pub(super) use view::add_part;
