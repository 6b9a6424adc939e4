//! Softmax and normalization along a split dim: only per-row sums and maxima are exchanged.

use nomina::{DType, DynTensor, Result};
use nomina_core::mesh::Combine;

use super::SplitDim;
use crate::identity;

/// Converts floats to `f64`, in which the square of any narrower float is in range.
fn to_f64(x: &DynTensor) -> Result<DynTensor> {
    if x.dtype().is_float() {
        x.to_dtype(DType::F64)
    } else {
        Ok(x.clone())
    }
}

impl SplitDim {
    /// Returns the maximum of each row without its gradient; the least number of the dtype if there are no elements.
    /// The dim stays with size 1.
    fn row_max(&self, x: &DynTensor) -> Result<DynTensor> {
        let own = match x.shape()[self.dim] {
            0 => identity::extreme_row(x, self.dim, Combine::Max)?,
            _ => x.detach().amax(self.keep_dim())?,
        };
        self.all_reduce(&own, Combine::Max)
    }

    /// Returns the elements less their row's maximum, and the sum of their exponentials over all ranks.
    fn center_and_sum(&self, x: &DynTensor) -> Result<(DynTensor, DynTensor)> {
        // In a row of minus infinities the difference is NaN, as on a single rank.
        let centred = x.sub(&self.row_max(x)?)?;
        let sum = self.all_reduce(&centred.exp()?.sum(self.keep_dim())?, Combine::Add)?;
        Ok((centred, sum))
    }

    pub(crate) fn softmax(&self, x: &DynTensor) -> Result<DynTensor> {
        let (centred, sum) = self.center_and_sum(x)?;
        centred.exp()?.div(&sum)
    }

    pub(crate) fn log_softmax(&self, x: &DynTensor) -> Result<DynTensor> {
        let (centred, sum) = self.center_and_sum(x)?;
        centred.sub(&sum.log()?)
    }

    /// The dim stays with size 1.
    pub(crate) fn logsumexp(&self, x: &DynTensor) -> Result<DynTensor> {
        let most = self.row_max(x)?;
        // An infinite maximum is not subtracted: it is in the sum unchanged.
        let base = most.masked_fill(&most.isinf()?, 0_i64)?;
        let sum = x.sub(&base)?.exp()?.sum(self.keep_dim())?;
        self.all_reduce(&sum, Combine::Add)?.log()?.add(&base)
    }

    /// Returns the mean of each row over all ranks. The dim stays with size 1.
    fn mean(&self, x: &DynTensor) -> Result<DynTensor> {
        let sum = self.all_reduce(&x.sum(self.keep_dim())?, Combine::Add)?;
        sum.div(self.size() as f64)
    }

    pub(crate) fn layer_norm(&self, x: &DynTensor, eps: f64) -> Result<DynTensor> {
        let wide = to_f64(x)?;
        let centred = wide.sub(&self.mean(&wide)?)?;
        let squares = self.mean(&centred.square()?)?;
        centred
            .mul(&squares.add(eps)?.rsqrt()?)?
            .to_dtype(x.dtype())
    }

    pub(crate) fn rms_norm(&self, x: &DynTensor, eps: f64) -> Result<DynTensor> {
        let wide = to_f64(x)?;
        let squares = self.mean(&wide.square()?)?;
        wide.mul(&squares.add(eps)?.rsqrt()?)?.to_dtype(x.dtype())
    }
}
