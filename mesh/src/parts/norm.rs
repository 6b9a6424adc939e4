//! Exponentials over their sum, and elements over their size: small sums of each row are exchanged.

use nomina::{DType, DynTensor, Result};
use nomina_core::mesh::Combine;

use super::Parts;
use crate::identity;

/// The elements in `f64`, where no square of another float is out of range.
fn widened(x: &DynTensor) -> Result<DynTensor> {
    if x.dtype().is_float() {
        x.to_dtype(DType::F64)
    } else {
        Ok(x.clone())
    }
}

impl Parts {
    /// The greatest of each row, without its gradient; the least number where there is none. The dim stays, of size 1.
    fn greatest(&self, x: &DynTensor) -> Result<DynTensor> {
        let own = match x.shape()[self.dim] {
            0 => identity::extreme_row(x, self.dim, Combine::Max)?,
            _ => x.detach().amax(self.keep())?,
        };
        self.over(&own, Combine::Max)
    }

    /// The exponentials less the greatest of each row, and their sum over all ranks.
    fn powers(&self, x: &DynTensor) -> Result<(DynTensor, DynTensor)> {
        // Where nothing but minus infinity stands, as the operator on one rank has it: the difference is NaN.
        let centred = x.sub(&self.greatest(x)?)?;
        let sum = self.over(&centred.exp()?.sum(self.keep())?, Combine::Add)?;
        Ok((centred, sum))
    }

    pub(crate) fn softmax(&self, x: &DynTensor) -> Result<DynTensor> {
        let (centred, sum) = self.powers(x)?;
        centred.exp()?.div(&sum)
    }

    pub(crate) fn log_softmax(&self, x: &DynTensor) -> Result<DynTensor> {
        let (centred, sum) = self.powers(x)?;
        centred.sub(&sum.log()?)
    }

    /// The dim stays, of size 1.
    pub(crate) fn logsumexp(&self, x: &DynTensor) -> Result<DynTensor> {
        let most = self.greatest(x)?;
        // An infinite one is in the sum as it is.
        let base = most.masked_fill(&most.isinf()?, 0_i64)?;
        let sum = x.sub(&base)?.exp()?.sum(self.keep())?;
        self.over(&sum, Combine::Add)?.log()?.add(&base)
    }

    /// The mean of each row over all ranks. The dim stays, of size 1.
    fn mean(&self, x: &DynTensor) -> Result<DynTensor> {
        let sum = self.over(&x.sum(self.keep())?, Combine::Add)?;
        sum.div(self.size() as f64)
    }

    pub(crate) fn layer_norm(&self, x: &DynTensor, eps: f64) -> Result<DynTensor> {
        let wide = widened(x)?;
        let centred = wide.sub(&self.mean(&wide)?)?;
        let squares = self.mean(&centred.square()?)?;
        centred
            .mul(&squares.add(eps)?.rsqrt()?)?
            .to_dtype(x.dtype())
    }

    pub(crate) fn rms_norm(&self, x: &DynTensor, eps: f64) -> Result<DynTensor> {
        let wide = widened(x)?;
        let squares = self.mean(&wide.square()?)?;
        wide.mul(&squares.add(eps)?.rsqrt()?)?.to_dtype(x.dtype())
    }
}
