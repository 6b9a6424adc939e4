//! Maxima and minima along a split dim with their global indices, and the top k.

use nomina::{DType, DynTensor, Error, ErrorKind, Result, TopkOptions};
use nomina_core::mesh::Combine;
use nomina_runtime::Raw;
use nomina_runtime::grad::custom;

use super::{SplitDim, with_names_of};
use crate::identity;

impl SplitDim {
    /// Returns the maximum or minimum of each row and its index; the first NaN and its index in a row that has one.
    /// Only the values and the indices are sent, for two reductions.
    pub(crate) fn extreme(
        &self,
        x: &DynTensor,
        combine: Combine,
    ) -> Result<(DynTensor, DynTensor)> {
        self.attach_gradient(x, self.extreme_of_rows(&x.detach(), combine)?)
    }

    /// Like [`extreme`](Self::extreme), but without gradients, and the dim stays with size 1.
    pub(super) fn extreme_of_rows(
        &self,
        own: &DynTensor,
        combine: Combine,
    ) -> Result<(DynTensor, DynTensor)> {
        if self.size() == 0 {
            let error = Error::new(ErrorKind::Index, self.op, "there are no elements");
            return Err(error
                .operand(&self.metadata.names, &self.metadata.sizes)
                .hint("use a dim whose size is not 0"));
        }
        let (value, place) = match (own.shape()[self.dim], combine) {
            (0, _) => {
                let row = identity::extreme_row(own, self.dim, combine)?;
                let mut nowhere = identity::zero_row(own, self.dim)?.to_dtype(DType::I64)?;
                nowhere.fill_(i64::MAX)?;
                (row, nowhere)
            }
            (_, Combine::Max) => own.max(self.keep_dim())?,
            _ => own.min(self.keep_dim())?,
        };
        let all = self.all_reduce(&value, combine)?;
        let found = all
            .eq(&value)?
            .logical_or(&all.isnan()?.logical_and(&value.isnan()?)?)?;
        // The first of the ranks with this value has the first index.
        let place = match own.shape()[self.dim] {
            0 => place,
            _ => place.add(self.own().0 as i64)?,
        };
        let place = place.masked_fill(&found.logical_not()?, i64::MAX)?;
        Ok((all, self.all_reduce(&place, Combine::Min)?))
    }

    /// Attaches the gradient to one element of each row: it goes back to the element's index. Both tensors still have
    /// the dim, which is removed.
    pub(super) fn attach_gradient(
        &self,
        x: &DynTensor,
        (values, places): (DynTensor, DynTensor),
    ) -> Result<(DynTensor, DynTensor)> {
        let (split_dim, like, at) = (self.clone(), x.detach(), places.clone());
        let back = move |grad: &Raw| {
            let grad = split_dim.all_reduce(&with_names_of(grad.clone(), &like)?, Combine::Add)?;
            let zeros = like.zeros_like()?;
            let found = match like.shape()[split_dim.dim] {
                0 => zeros,
                _ => {
                    let (within, own) = split_dim.localized(&at)?;
                    let grad = grad.masked_fill(&own.logical_not()?, 0_i64)?;
                    zeros.scatter_add(split_dim.dim, &within, &grad)?
                }
            };
            Ok(vec![Some(found.into_parts().0)])
        };
        let values = custom(self.op, &[x.raw()], values.into_parts().0, back)?;
        Ok((
            with_names_of(values, x)?.squeeze(self.dim)?,
            places.squeeze(self.dim)?,
        ))
    }

    /// Returns the `k` greatest or smallest elements and their indices. Each rank sends the top `k` of its part.
    pub(crate) fn topk(
        &self,
        x: &DynTensor,
        k: usize,
        options: TopkOptions,
    ) -> Result<(DynTensor, DynTensor)> {
        let (start, len) = self.own();
        let (values, places) = x.topk_with(k.min(len) as i64, self.dim, options)?;
        // Parts differ by at most one element, and so do the ranks' candidates: each rank has its part of `count`
        // candidates.
        let count = k.saturating_mul(self.ranks()).min(self.size());
        let values = self.all_gather(&values, count)?;
        let places = self.all_gather(&places.add(start as i64)?, count)?;
        if k > count {
            let what = format!("{k} elements requested of {}", self.size());
            let error = Error::new(ErrorKind::Index, self.op, what);
            return Err(error
                .operand(&self.metadata.names, &self.metadata.sizes)
                .hint(format!("give a number from 0 to {}", self.size())));
        }
        let (values, at) = values.topk_with(k as i64, self.dim, options)?;
        Ok((values, places.gather(self.dim, &at)?))
    }
}
