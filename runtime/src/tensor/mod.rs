//! [`DynTensor`]: names, rank and dtype at run time.
//!
//! Every method infers names with [`nomina_core::rule`] and passes the elements, without names, to
//! [`crate::call`]. Methods that follow from a row of the operator table are generated
//! (`generated.rs`); those with special rules are in a file per family.

mod activation;
mod analysis;
mod arg;
mod attribute;
mod conv;
#[cfg(feature = "dlpack")]
mod dlpack;
mod einsum;
mod factory;
mod factory_out;
pub mod family;
#[doc(hidden)]
pub mod feature_off;
#[cfg(feature = "fft")]
mod fft;
mod fused;
mod gather;
mod generated;
mod grad;
pub mod gradient;
mod html;
mod index;
#[cfg(feature = "linalg")]
mod linalg;
pub mod loops;
mod loss;
mod masked;
mod moments;
mod naming;
mod norm;
mod operand;
mod operators;
mod options;
mod parametric;
mod part;
mod pointwise;
mod product;
mod query;
mod random;
mod random_factory;
mod reduce;
mod sample;
mod scaled;
#[cfg(feature = "serde")]
mod serde;
mod shape;
mod sort;
mod sparse;
mod stat;
mod view;
mod write;

#[cfg(test)]
mod tests;

use std::fmt;

use crate::Device;
use nomina_core::{DType, Error, ErrorKind, MAX_DIMS, Names, Result};

use crate::display;
use crate::profile;
use crate::raw::Raw;

pub use crate::call::Activation;
#[cfg(feature = "fft")]
pub use crate::call::FftNorm;
#[cfg(feature = "linalg")]
pub use crate::call::MatrixNorm;
pub use crate::call::analysis::InterpMethod;
pub use crate::job::Interpolation;
pub use activation::*;
pub use analysis::{GroupBy, Windows};
pub use arg::{IntoNames, Order, Rename, SplitSizes};
pub use attribute::{ordinal, type_name};
pub use conv::{
    AvgPoolOptions, ColumnsOptions, ConvOptions, ConvTransposeOptions, InterpolateMode,
    InterpolateOptions, LpPoolOptions, MaxPoolOptions, PadMode, PadOptions, Padding,
};
pub use einsum::{AttentionOptions, CdistOptions, LinearOptions};
pub use factory::Options;
#[cfg(feature = "fft")]
pub use fft::FftOptions;
#[doc(hidden)]
pub use fused::{fused, fused_reduce};
pub use gather::{
    EmbeddingOptions, Index, IndexAddOptions, IndexPutOptions, IndexRange, ScatterOptions,
    ScatterReduce, ScatterReduceOptions, unlike_part,
};
#[cfg(feature = "linalg")]
pub use linalg::{Tolerance, TriangularOptions};
pub use loss::*;
pub use moments::InterpOptions;
pub use norm::*;
pub use operand::{IntoOperand, Operand};
pub use options::{AddOptions, AddmmOptions, ReduceOptions, VarOptions};
pub use parametric::*;
pub use part::DynTensorMut;
pub use reduce::Along;
pub use sample::MultinomialOptions;
pub use shape::{
    DiagEmbedOptions, DiagonalOptions, HammingOptions, Indexing, KaiserOptions, LogspaceOptions,
    MeshgridOptions, Repeats, Rot90Options, Sections, VanderOptions, WindowOptions,
};
pub use sort::{
    BincountOptions, HistcOptions, IsinOptions, QuantileOptions, SearchOptions, SortOptions,
    TopkOptions, Unique,
};
pub use sparse::{AnyLayout, DynSparse, SparseOperand};
pub use stat::{CovOptions, DiffOptions, NormOptions, TrapezoidOptions};

/// A tensor whose names, rank and dtype are known at run time.
///
/// Cloning is free: elements are shared until one of the clones is written to.
///
/// ```
/// use nomina_runtime::DynTensor;
/// let x = DynTensor::from_vec(vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], &[2, 3], ["N", "C"])?;
/// let total = x.sum("N")?;
/// assert_eq!(total.names().to_string(), "(C,)");
/// assert_eq!(total.to_vec::<f32>()?, [5.0, 7.0, 9.0]);
/// # Ok::<(), nomina_core::Error>(())
/// ```
#[derive(Clone)]
#[must_use]
pub struct DynTensor {
    raw: Raw,
    names: Names,
}

impl DynTensor {
    /// Creates a tensor from elements without names and the names of its dims.
    ///
    /// # Errors
    /// [`ErrorKind::NamesLen`] if there is not one name per dim, [`ErrorKind::DuplicateNames`] if
    /// a name is given twice.
    pub fn from_parts(raw: Raw, names: Names) -> Result<Self> {
        if raw.rank() != names.len() {
            let what = format!("{} names for {} dims", names.len(), raw.rank());
            return Err(Error::new(ErrorKind::NamesLen, "from_parts", what)
                .operand(&Names::default(), raw.shape())
                .hint("give one name per dim, `None` for a dim without one"));
        }
        if raw.rank() > MAX_DIMS {
            let what = format!("{} dims are more than {MAX_DIMS}", raw.rank());
            return Err(Error::new(ErrorKind::Rank, "from_parts", what));
        }
        if names.duplicate().is_some() {
            return Err(Names::new(names.iter().cloned())
                .unwrap_err()
                .in_op("from_parts"));
        }
        Ok(Self::new(raw, names))
    }

    /// Splits the tensor into elements and names.
    #[must_use]
    pub fn into_parts(self) -> (Raw, Names) {
        (self.raw, self.names)
    }

    /// Returns the elements without the names.
    #[must_use]
    pub fn raw(&self) -> &Raw {
        &self.raw
    }

    /// Wraps the result of a rule and a kernel.
    pub(crate) fn new(raw: Raw, names: Names) -> Self {
        debug_assert_eq!(raw.rank(), names.len());
        if profile::is_on() {
            profile::named(&names, raw.shape(), raw.as_ptr().addr());
        }
        Self { raw, names }
    }

    /// Returns the names of the dims, `None` for a dim without a name.
    #[must_use]
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// Returns the sizes.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        self.raw.shape()
    }

    /// Returns the strides of the dims, in elements.
    #[must_use]
    pub fn strides(&self) -> &[isize] {
        self.raw.strides()
    }

    /// Returns the number of dims.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.raw.rank()
    }

    /// Returns the number of elements.
    #[must_use]
    pub fn numel(&self) -> usize {
        self.raw.numel()
    }

    /// Returns the dtype.
    #[must_use]
    pub fn dtype(&self) -> DType {
        self.raw.dtype()
    }

    /// Returns the device.
    #[must_use]
    pub fn device(&self) -> Device {
        self.raw.device()
    }
}

/// Formats the values, abbreviated in the middle if there are many, and a line with names, sizes
/// and dtype; a scalar is its number alone.
impl fmt::Display for DynTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        display::values(f, &self.raw, &self.names)
    }
}

/// Like `Display`, but with exponents: `[1.0e+00 2.5e-03]`.
impl fmt::LowerExp for DynTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        display::scientific(f, &self.raw, &self.names)
    }
}

/// Formats to one line: `dims (N=2, C=3), f32: [1.0, 2.0, …]`.
impl fmt::Debug for DynTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        display::line(f, &self.raw, &self.names)
    }
}

/// Adds to `error` the dims of the operands it is about, and where they were created.
#[cold]
#[must_use]
pub fn about(error: Error, operands: &[&DynTensor]) -> Error {
    let error = match error.operands() {
        [] => operands
            .iter()
            .fold(error, |e, x| e.operand(&x.names, x.shape())),
        _ => error,
    };
    error
        .with_names(operands.iter().map(|x| &x.names))
        .with_shapes(operands.iter().map(|x| x.shape()))
        .made_at(
            operands
                .iter()
                .map(|x| (&x.names, x.shape(), x.raw.created_at())),
        )
}
