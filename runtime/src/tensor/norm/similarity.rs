//! Lengths and angles along a dim.

use nomina_core::op::Op;
use nomina_core::rule::{DimArg, DimRef};
use nomina_core::{Error, Result};
use nomina_macros::forms;

use super::{CosineSimilarityOptions, NormalizeOptions, PairwiseDistanceOptions};
use crate::tensor::{DynTensor, NormOptions, about};

/// The error of a step as the operator's own.
fn named<'a>(op: Op, x: &'a DynTensor) -> impl Fn(Error) -> Error + 'a {
    move |error| about(error.in_op(op.name()), &[x])
}

impl DynTensor {
    /// Divided by the norm along dims.
    ///
    /// # Errors
    /// When a dim does not exist, or the dtype is no float.
    #[forms(with = "with a norm of choice.", out)]
    pub fn normalize_with<'a>(
        &self,
        dims: impl Into<DimArg<'a>>,
        options: NormalizeOptions,
    ) -> Result<Self> {
        let fail = named(Op::Normalize, self);
        Op::Normalize
            .row()
            .check_dtype(self.dtype())
            .map_err(&fail)?;
        let norm = NormOptions {
            p: options.p,
            keepdim: true,
            ..NormOptions::default()
        };
        let length = self.norm_with(dims, norm).map_err(&fail)?;
        let length = length.clamp_min(options.eps).map_err(&fail)?;
        self.div(&length).map_err(&fail)
    }

    /// The cosine of the angle to `other` along a dim, which goes. Names unify, sizes broadcast.
    ///
    /// # Errors
    /// When names do not unify, sizes do not broadcast, or the dim does not exist.
    #[forms(with = "with a least length of choice.")]
    pub fn cosine_similarity_with<'a>(
        &self,
        other: &Self,
        dim: impl Into<DimRef<'a>>,
        options: CosineSimilarityOptions,
    ) -> Result<Self> {
        let op = Op::CosineSimilarity;
        let fail = named(op, self);
        let products = self.mul(other).map_err(&fail)?;
        op.row().check_dtype(products.dtype()).map_err(&fail)?;
        let found = DimArg::one(dim.into()).single(op.name(), &products.names);
        let Some(at) = found.map_err(&fail)? else {
            return Err(fail(Error::new(
                nomina_core::ErrorKind::Rank,
                op.name(),
                "numbers have no direction",
            ))
            .hint("give tensors with a dim"));
        };
        // Each operand's own dim, which is missing where it broadcasts.
        let length = |x: &Self| -> Result<Self> {
            let left = products.rank() - x.rank();
            match at.checked_sub(left) {
                Some(own) => {
                    let norm = x.norm_with(
                        own,
                        NormOptions {
                            keepdim: true,
                            ..NormOptions::default()
                        },
                    )?;
                    // A dim of size 1 broadcasts: each of its repeats counts.
                    let repeats = products.shape()[at] / x.shape()[own].max(1);
                    norm.mul((repeats as f64).sqrt())?.clamp_min(options.eps)
                }
                None => x
                    .abs()?
                    .mul((products.shape()[at] as f64).sqrt())?
                    .clamp_min(options.eps),
            }
        };
        let dot = products.sum(DimArg::one(at).keep()).map_err(&fail)?;
        let cosine = dot
            .div(&length(self).map_err(&fail)?)
            .and_then(|half| half.div(&length(other)?))
            .map_err(&fail)?;
        cosine.select(at, 0).map_err(&fail)
    }

    /// The norm of the difference to `other` along a dim, which goes unless kept. Names unify, sizes
    /// broadcast.
    ///
    /// # Errors
    /// When names do not unify, sizes do not broadcast, or the dim does not exist.
    #[forms(with = "with a norm of choice.")]
    pub fn pairwise_distance_with<'a>(
        &self,
        other: &Self,
        dim: impl Into<DimArg<'a>>,
        options: PairwiseDistanceOptions,
    ) -> Result<Self> {
        let op = Op::PairwiseDistance;
        let fail = named(op, self);
        let apart = self.sub(other).map_err(&fail)?;
        op.row().check_dtype(apart.dtype()).map_err(&fail)?;
        let apart = apart.add(options.eps).map_err(&fail)?;
        let norm = NormOptions {
            p: options.p,
            ..NormOptions::default()
        };
        apart.norm_with(dim, norm).map_err(&fail)
    }
}
