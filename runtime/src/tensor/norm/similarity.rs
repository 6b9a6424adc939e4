//! Lengths and angles along a dim.

use nomina_core::op::Op;
use nomina_core::rule::{self, DimArg, DimRef};
use nomina_core::{DType, Error, Names, Promoter, Result};
use nomina_macros::forms;

use super::{CosineSimilarityOptions, NormalizeOptions, PairwiseDistanceOptions};
use crate::call;
use crate::call::room_for_sums;
use crate::config::default_dtype;
use crate::dispatch::accumulator;
use crate::shape::{Shape, broadcast};
use crate::tensor::{DynTensor, NormOptions, about};

/// Metadata of the product of two tensors.
struct Products {
    names: Names,
    shape: Shape,
    dtype: DType,
}

impl Products {
    fn new(a: &DynTensor, b: &DynTensor) -> Result<Self> {
        let op = Op::Mul.name();
        let mut promoter = Promoter::new(default_dtype());
        promoter.tensor(a.dtype(), a.rank());
        promoter.tensor(b.dtype(), b.rank());
        Ok(Self {
            names: rule::unify(op, &a.names, &b.names)?,
            shape: broadcast(op, &[a.shape(), b.shape()])?,
            dtype: promoter.result(),
        })
    }
}

/// Scales a tensor of `f64` near the end of the range by a factor that leaves room for its norm;
/// others by one.
fn with_room(x: &DynTensor) -> Result<(DynTensor, f64)> {
    Ok(match room_for_sums(&x.raw)? {
        Some(factor) => (x.mul(factor)?, factor),
        None => (x.clone(), 1.0),
    })
}

/// Divides a tensor by lengths, which may have a wider dtype than the quotient.
fn quotient(x: &DynTensor, length: &DynTensor, dtype: DType) -> Result<DynTensor> {
    let both = [(&x.raw).into(), (&length.raw).into()];
    let raw = call::pointwise_as(Op::Div, &both, dtype)?;
    Ok(DynTensor::new(raw, x.names.clone()))
}

/// Turns the error of a step into one of the operator.
fn named<'a>(op: Op, x: &'a DynTensor) -> impl Fn(Error) -> Error + 'a {
    move |error| about(error.in_op(op.name()), &[x])
}

impl DynTensor {
    /// Divides by the norm along dims.
    ///
    /// # Errors
    /// If a dim does not exist, or the dtype is not a float.
    #[forms(with = "but with the norm of the options.", out)]
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
        // A norm may be out of the range of the quotients.
        let norm = NormOptions {
            p: options.p,
            keepdim: true,
            dtype: Some(accumulator(self.dtype())),
        };
        let (x, factor) = with_room(self).map_err(&fail)?;
        let length = x.norm_with(dims, norm).map_err(&fail)?;
        let length = length.clamp_min(options.eps * factor).map_err(&fail)?;
        quotient(&x, &length, self.dtype()).map_err(&fail)
    }

    /// Computes the cosine of the angle to `other` along a dim, which is removed. Names unify,
    /// sizes broadcast.
    ///
    /// # Errors
    /// If names do not unify, sizes do not broadcast, or the dim does not exist.
    #[forms(with = "but with a given least length.")]
    pub fn cosine_similarity_with<'a>(
        &self,
        other: &Self,
        dim: impl Into<DimRef<'a>>,
        options: CosineSimilarityOptions,
    ) -> Result<Self> {
        let op = Op::CosineSimilarity;
        let fail = named(op, self);
        // The sizes, names and dtype of the products. The products are of vectors of length one,
        // since others may be out of range.
        let products = Products::new(self, other);
        let products = products.map_err(|e| about(e.in_op(op.name()), &[self, other]))?;
        op.row().check_dtype(products.dtype).map_err(&fail)?;
        let found = DimArg::from_dim(dim.into()).single(op.name(), &products.names);
        let Some(at) = found.map_err(&fail)? else {
            return Err(fail(Error::new(
                nomina_core::ErrorKind::Rank,
                op.name(),
                "numbers have no direction",
            ))
            .hint("give tensors with a dim"));
        };
        // The dim of each operand, which is missing if it broadcasts.
        let length = |x: &Self, eps: f64| -> Result<Self> {
            let left = products.shape.len() - x.rank();
            match at.checked_sub(left) {
                Some(own) => {
                    let norm = x.norm_with(
                        own,
                        NormOptions {
                            keepdim: true,
                            dtype: Some(accumulator(x.dtype())),
                            ..NormOptions::default()
                        },
                    )?;
                    // A dim of size 1 broadcasts: each repetition counts.
                    let repeats = products.shape[at] / x.shape()[own].max(1);
                    norm.mul((repeats as f64).sqrt())?.clamp_min(eps)
                }
                None => x
                    .to_dtype(accumulator(x.dtype()))?
                    .abs()?
                    .mul((products.shape[at] as f64).sqrt())?
                    .clamp_min(eps),
            }
        };
        let direction = |x: &Self| -> Result<Self> {
            let dtype = match x.dtype() {
                DType::F16 | DType::BF16 => DType::F32,
                other => other,
            };
            let (x, factor) = with_room(x)?;
            quotient(&x, &length(&x, options.eps * factor)?, dtype)
        };
        let cosine = direction(self).and_then(|own| {
            let cosine = own.mul(&direction(other)?)?.sum(at)?;
            cosine.to_dtype(products.dtype)
        });
        cosine.map_err(&fail)
    }

    /// Computes the norm of the difference to `other` along a dim, which is removed unless kept.
    /// Names unify, sizes broadcast.
    ///
    /// # Errors
    /// If names do not unify, sizes do not broadcast, or the dim does not exist.
    #[forms(with = "but with the norm of the options.")]
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
