//! CPU kernels. They operate on pointers, sizes and strides, never on names.

pub(crate) mod arg;
pub(crate) mod attention;
pub(crate) mod attention_gradients;
mod backend;
pub(crate) mod cache;
pub(crate) mod cast;
pub(crate) mod conv;
mod data_dependent;
pub(crate) mod distance;
#[cfg(feature = "fft")]
pub(crate) mod fft;
pub(crate) mod fill;
pub(crate) mod fused;
pub(crate) mod gather;
pub(crate) mod gemm;
pub(crate) mod histogram;
pub(crate) mod index;
#[cfg(feature = "linalg")]
pub(crate) mod linalg;
pub(crate) mod lines;
pub(crate) mod loss;
pub(crate) mod nontemporal;
pub(crate) mod norm;
pub(crate) mod norm_weight;
pub(crate) mod numeric;
mod pairs;
pub(crate) mod parallel;
mod parallel_sort;
pub(crate) mod pointwise;
mod quantile;
pub(crate) mod random;
pub(crate) mod recurrent;
pub(crate) mod reduce;
pub(crate) mod row_gradients;
pub(crate) mod rows;
pub(crate) mod scan;
pub(crate) mod simd;
pub(crate) mod softmax;
pub(crate) mod sort;
pub(crate) mod sparse;
pub(crate) mod step;
pub(crate) mod transpose;
pub(crate) mod triangle;
#[cfg(feature = "rayon")]
mod work_sharing;

pub(crate) use backend::Cpu;
