//! Partial results of blocks.

use nomina::{DType, DynTensor, Names, Result};

use super::reduction::Reduction;

/// The partial result of some blocks: in `f64`, or in `i64` for integers.
pub(super) struct Partial {
    values: DynTensor,
    /// The number of elements that are not NaN, if it is needed.
    count: Option<DynTensor>,
    /// The number of elements of each result.
    len: usize,
}

/// Reduces a part of a block over dims.
pub(super) fn reduce_part(x: &DynTensor, reduction: Reduction, dims: &[i64]) -> Result<Partial> {
    let wide = match (reduction.is_extreme(), x.dtype().is_float()) {
        (true, _) => x.clone(),
        (false, true) => x.to_dtype(DType::F64)?,
        (false, false) => x.to_dtype(DType::I64)?,
    };
    let float = wide.dtype().is_float();
    let count = match reduction {
        Reduction::NanMean | Reduction::NanMin | Reduction::NanMax if float => Some(
            wide.isnan()?
                .logical_not()?
                .to_dtype(DType::F64)?
                .sum(dims)?,
        ),
        _ => None,
    };
    let fill = |value: f64| wide.masked_fill(&wide.isnan()?, value);
    let values = match reduction {
        Reduction::NanSum | Reduction::NanMean if float => wide.nansum(dims)?,
        Reduction::Sum | Reduction::Mean | Reduction::NanSum | Reduction::NanMean => {
            wide.sum(dims)?
        }
        Reduction::NanMin if float => fill(f64::INFINITY)?.amin(dims)?,
        Reduction::NanMax if float => fill(f64::NEG_INFINITY)?.amax(dims)?,
        Reduction::Min | Reduction::NanMin => wide.amin(dims)?,
        Reduction::Max | Reduction::NanMax => wide.amax(dims)?,
    };
    let sizes = dims.iter().map(|&dim| x.shape()[dim as usize]);
    Ok(Partial {
        values,
        count,
        len: sizes.product(),
    })
}

impl Partial {
    /// Returns the result of no elements; `None` if there is none.
    pub(super) fn empty(
        reduction: Reduction,
        dtype: DType,
        sizes: &[usize],
    ) -> Result<Option<Self>> {
        let full = |value: f64, dtype: DType| {
            let names = Names::unnamed(sizes.len());
            DynTensor::options().dtype(dtype).full(sizes, value, names)
        };
        let values = match (reduction.is_extreme(), dtype.is_float()) {
            (true, true) => full(f64::NAN, dtype)?,
            (true, false) => return Ok(None),
            (false, true) => full(0.0, DType::F64)?,
            (false, false) => full(0.0, DType::I64)?,
        };
        let has_count = dtype.is_float()
            && matches!(
                reduction,
                Reduction::NanMean | Reduction::NanMin | Reduction::NanMax
            );
        let count = has_count.then(|| full(0.0, DType::F64)).transpose()?;
        Ok(Some(Self {
            values,
            count,
            len: 0,
        }))
    }

    /// Adds the partial result of further elements.
    pub(super) fn add(&mut self, reduction: Reduction, other: &Self) -> Result<()> {
        self.values = match reduction {
            Reduction::Min | Reduction::NanMin => self.values.minimum(&other.values)?,
            Reduction::Max | Reduction::NanMax => self.values.maximum(&other.values)?,
            _ => self.values.add(&other.values)?,
        };
        if let (Some(own), Some(other)) = (&self.count, &other.count) {
            self.count = Some(own.add(other)?);
        }
        self.len += other.len;
        Ok(())
    }

    /// Completes the result.
    pub(super) fn settle(self, reduction: Reduction, dtype: DType) -> Result<DynTensor> {
        let Self { values, count, len } = self;
        match (reduction, count) {
            (Reduction::NanMean, Some(count)) => values.div(&count),
            (Reduction::NanMin | Reduction::NanMax, Some(count)) => {
                values.masked_fill(&count.eq(0)?, f64::NAN)
            }
            (Reduction::Mean | Reduction::NanMean, _) => {
                values.to_dtype(DType::F64)?.div(len as f64)
            }
            _ if reduction.is_extreme() => values.to_dtype(dtype),
            _ => Ok(values),
        }
    }
}
