//! Counting: elements into bins, quantiles, membership.

use nomina_core::op::Op;
use nomina_core::rule::{self, DimArg, Positions};
use nomina_core::{Names, Result};
use nomina_macros::forms;

use crate::call;
use crate::job::Interpolation;
use crate::raw::Raw;
use crate::tensor::{DynTensor, Operand, about, family};

/// Options of `bincount_with` and `bincount_weighted`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BincountOptions {
    /// The minimum number of bins of the result.
    pub minlength: usize,
}

/// Options of `histc_with`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HistcOptions {
    /// The start of the first bin.
    pub min: f64,
    /// The end of the last bin; if both are equal, bins range from the smallest element to the
    /// greatest.
    pub max: f64,
}

/// Options of `isin_with`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IsinOptions {
    /// Whether to return the elements that are not among the others.
    pub invert: bool,
}

/// Options of `quantile_with` and `nanquantile_with`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QuantileOptions {
    /// The interpolation of a quantile between two elements.
    pub interpolation: Interpolation,
    /// Whether the dim is kept with size 1.
    pub keepdim: bool,
}

impl DynTensor {
    /// Counts the occurrences of each whole number from 0 on in a tensor of one dim. The result has
    /// one unnamed dim.
    ///
    /// # Errors
    /// If there is not one dim, a number is negative, or the dtype is not of integers.
    #[forms(with = "but with at least `options.minlength` bins.")]
    pub fn bincount_with(&self, options: BincountOptions) -> Result<Self> {
        let raw = call::bincount(&self.raw, None, options.minlength);
        let raw = raw.map_err(|e| about(e, &[self]))?;
        Ok(Self::new(raw, Names::unnamed(1)))
    }

    /// Like [`DynTensor::bincount`], but sums weights: in f32 for f32, else in f64.
    ///
    /// # Errors
    /// Like [`DynTensor::bincount`]; also if the weights have another name or size.
    pub fn bincount_weighted(&self, weights: &Self, options: BincountOptions) -> Result<Self> {
        let fail = |e| about(e, &[self, weights]);
        rule::unify(Op::Bincount.name(), &self.names, &weights.names).map_err(fail)?;
        let raw = call::bincount(&self.raw, Some(&weights.raw), options.minlength);
        Ok(Self::new(raw.map_err(fail)?, Names::unnamed(1)))
    }

    /// Counts the elements in each of `bins` equal bins from the smallest to the greatest element,
    /// along one dim with or without a name.
    ///
    /// # Errors
    /// If there are no bins, an element is not finite, or the dtype is not a float. With options,
    /// also if `max` is below `min`.
    #[forms(with = "but with the range of the options.")]
    pub fn histc_with<'b>(
        &self,
        bins: usize,
        name: impl Into<Option<&'b str>>,
        options: HistcOptions,
    ) -> Result<Self> {
        let fail = |e| about(e, &[self]);
        let none = Names::unnamed(0);
        let (_, names) = rule::unsqueeze("histc", &none, 0, name.into()).map_err(fail)?;
        let raw = call::histc(&self.raw, bins, options.min, options.max).map_err(fail)?;
        Ok(Self::new(raw, names))
    }

    /// Like [`DynTensor::histc`], but writes to `out`.
    ///
    /// # Errors
    /// Like [`DynTensor::histc`]; also if `out` cannot hold the result.
    pub fn histc_out(&self, bins: usize, out: &mut Self) -> Result<()> {
        family::store(Op::Histc, self.histc(bins, None)?, out)
    }

    /// Returns whether each element is among others; dtypes promote. NaN equals nothing.
    ///
    /// # Errors
    /// If the dtype is complex.
    #[forms(with = "but inverts the result if the options say so.", out)]
    pub fn isin_with<'a>(
        &self,
        others: impl Into<Operand<'a>>,
        options: IsinOptions,
    ) -> Result<Self> {
        let others = match others.into() {
            Operand::Tensor(others) => others.clone(),
            Operand::Scalar(value) => {
                let mut promoter = nomina_core::Promoter::new(crate::config::default_dtype());
                promoter.tensor(self.dtype(), self.rank());
                promoter.scalar(value);
                let raw = call::full(&[], value, promoter.result(), self.device())?;
                Self::new(raw, Names::default())
            }
        };
        let fail = |e| about(e, &[self, &others]);
        let raw = call::isin(&self.raw, &others.raw, options.invert).map_err(fail)?;
        Ok(Self::new(raw, self.names.clone()))
    }

    /// Returns the elements at the fractions `q` of the sorted line along a dim, or of all elements
    /// with `..`: one for a number, along a new first dim for a list, which keeps its name. NaN if
    /// any element is NaN.
    ///
    /// # Errors
    /// If the dim does not exist, `q` is not between 0 and 1 or has another dtype, or there are no
    /// elements.
    #[forms(with = "but with the interpolation of the options.", out)]
    pub fn quantile_with<'a, 'b>(
        &self,
        q: impl Into<Operand<'a>>,
        dim: impl Into<DimArg<'b>>,
        options: QuantileOptions,
    ) -> Result<Self> {
        self.quantiles(Op::Quantile, q.into(), &dim.into(), options)
    }

    /// Like [`DynTensor::quantile`], but ignores NaN.
    ///
    /// # Errors
    /// Like [`DynTensor::quantile`].
    #[forms(with = "but with the interpolation of the options.", out)]
    pub fn nanquantile_with<'a, 'b>(
        &self,
        q: impl Into<Operand<'a>>,
        dim: impl Into<DimArg<'b>>,
        options: QuantileOptions,
    ) -> Result<Self> {
        self.quantiles(Op::Nanquantile, q.into(), &dim.into(), options)
    }

    pub(in crate::tensor) fn quantiles(
        &self,
        op: Op,
        q: Operand<'_>,
        dim: &DimArg<'_>,
        options: QuantileOptions,
    ) -> Result<Self> {
        let q = self.as_values(q)?;
        let fail = |e| about(e, &[self, &q]);
        let keepdim = dim.keepdim() || options.keepdim;
        let picked = if dim.is_all() {
            None
        } else {
            dim.single(op.name(), &self.names).map_err(fail)?
        };
        let (positions, line, at): (Positions, Raw, usize) = match picked {
            Some(at) => ([at].into_iter().collect(), self.raw.clone(), at),
            // All elements form one line; a number is a line of one element.
            None => (
                (0..self.rank()).collect(),
                self.raw.reshape(&[self.numel()])?,
                0,
            ),
        };
        let names = rule::quantile(op.name(), &self.names, &positions, keepdim, &q.names);
        let names = names.map_err(fail)?;
        let found = call::quantile(op, &line, &q.raw, at, options.interpolation).map_err(fail)?;
        let mut shape: Vec<usize> = q.shape().to_vec();
        shape.extend(rule::reduce_shape(self.shape(), &positions, keepdim));
        Ok(Self::new(found.reshape(&shape)?, names))
    }
}
