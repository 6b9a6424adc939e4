//! Losses of distances and of order.

use nomina_core::Result;
use nomina_core::op::Op;
use nomina_core::rule::DimRef;

use super::{HingeEmbeddingLossOptions, MarginOptions, Reduction, TripletMarginLossOptions, named};
use crate::tensor::{DynTensor, PairwiseDistanceOptions};

impl DynTensor {
    /// Computes the mean hinge embedding loss: `x` where the target is 1, `max(0, 1 - x)` where it
    /// is -1.
    ///
    /// # Errors
    /// If names do not unify, sizes do not broadcast, or the dtype is not a float.
    pub fn hinge_embedding_loss(&self, target: &Self) -> Result<Self> {
        let options = HingeEmbeddingLossOptions::default();
        self.hinge_embedding_loss_with(target, Reduction::Mean, options)
    }

    /// Like [`DynTensor::hinge_embedding_loss`], but with the given reduction and margin.
    ///
    /// # Errors
    /// Like [`DynTensor::hinge_embedding_loss`].
    pub fn hinge_embedding_loss_with(
        &self,
        target: &Self,
        reduction: Reduction,
        options: HingeEmbeddingLossOptions,
    ) -> Result<Self> {
        let op = Op::HingeEmbeddingLoss;
        let both = [self, target];
        let fail = named(op, &both);
        op.row().check_dtype(self.dtype()).map_err(&fail)?;
        let apart = self
            .neg()
            .and_then(|x| x.add(options.margin)?.clamp_min(0.0))
            .map_err(&fail)?;
        // Like in PyTorch, a target that is neither counts both ways.
        let zero = self.zeros_like().map_err(&fail)?;
        let far = target
            .ne(1)
            .and_then(|cond| cond.where_cond(&apart, &zero))
            .map_err(&fail)?;
        let close = target
            .ne(-1)
            .and_then(|cond| cond.where_cond(self, &zero))
            .map_err(&fail)?;
        far.add(&close).map_err(&fail)?.reduced(op, reduction)
    }

    /// Computes `max(0, -y (x1 - x2) + margin)` for `self` and another tensor: how far their order
    /// is from a target of 1 (`self` greater) or -1. The margin is 0; returns the mean.
    ///
    /// # Errors
    /// If names do not unify, sizes do not broadcast, or the dtype is not a float.
    pub fn margin_ranking_loss(&self, input2: &Self, target: &Self) -> Result<Self> {
        self.margin_ranking_loss_with(input2, target, Reduction::Mean, MarginOptions::default())
    }

    /// Like [`DynTensor::margin_ranking_loss`], but with the given reduction and margin.
    ///
    /// # Errors
    /// Like [`DynTensor::margin_ranking_loss`].
    pub fn margin_ranking_loss_with(
        &self,
        input2: &Self,
        target: &Self,
        reduction: Reduction,
        options: MarginOptions,
    ) -> Result<Self> {
        let op = Op::MarginRankingLoss;
        let all = [self, input2, target];
        let fail = named(op, &all);
        op.row().check_dtype(self.dtype()).map_err(&fail)?;
        let terms = input2
            .sub(self)
            .and_then(|x| x.mul(target)?.add(options.margin)?.clamp_min(0.0));
        terms.map_err(&fail)?.reduced(op, reduction)
    }

    /// Computes 1 minus the cosine of the angle to another tensor along a dim where the target is
    /// 1, and the cosine minus the margin, at least 0, where it is -1. The margin is 0; returns the
    /// mean.
    ///
    /// # Errors
    /// If names do not unify, sizes do not broadcast, or the dtype is not a float.
    pub fn cosine_embedding_loss<'a>(
        &self,
        input2: &Self,
        target: &Self,
        dim: impl Into<DimRef<'a>>,
    ) -> Result<Self> {
        let options = MarginOptions::default();
        self.cosine_embedding_loss_with(input2, target, dim, Reduction::Mean, options)
    }

    /// Like [`DynTensor::cosine_embedding_loss`], but with the given reduction and margin.
    ///
    /// # Errors
    /// Like [`DynTensor::cosine_embedding_loss`].
    pub fn cosine_embedding_loss_with<'a>(
        &self,
        input2: &Self,
        target: &Self,
        dim: impl Into<DimRef<'a>>,
        reduction: Reduction,
        options: MarginOptions,
    ) -> Result<Self> {
        let op = Op::CosineEmbeddingLoss;
        let all = [self, input2, target];
        let fail = named(op, &all);
        let cosine = self.cosine_similarity(input2, dim).map_err(&fail)?;
        let zero = cosine.zeros_like().map_err(&fail)?;
        let near = cosine.neg().and_then(|x| x.add(1.0)).map_err(&fail)?;
        let far = cosine
            .sub(options.margin)
            .and_then(|x| x.clamp_min(0.0))
            .map_err(&fail)?;
        let near = target.eq(1).and_then(|cond| cond.where_cond(&near, &zero));
        let far = target.eq(-1).and_then(|cond| cond.where_cond(&far, &zero));
        let terms = near.and_then(|near| near.add(&far?)).map_err(&fail)?;
        terms.reduced(op, reduction)
    }

    /// Computes the distance to a positive example along a dim, minus that to a negative example,
    /// plus the margin, at least 0. The margin is 1; returns the mean.
    ///
    /// # Errors
    /// If names do not unify, sizes do not broadcast, or the dtype is not a float.
    pub fn triplet_margin_loss<'a>(
        &self,
        positive: &Self,
        negative: &Self,
        dim: impl Into<DimRef<'a>>,
    ) -> Result<Self> {
        let options = TripletMarginLossOptions::default();
        self.triplet_margin_loss_with(positive, negative, dim, Reduction::Mean, options)
    }

    /// Like [`DynTensor::triplet_margin_loss`], but with the given reduction and options.
    ///
    /// # Errors
    /// Like [`DynTensor::triplet_margin_loss`].
    pub fn triplet_margin_loss_with<'a>(
        &self,
        positive: &Self,
        negative: &Self,
        dim: impl Into<DimRef<'a>>,
        reduction: Reduction,
        options: TripletMarginLossOptions,
    ) -> Result<Self> {
        let op = Op::TripletMarginLoss;
        let all = [self, positive, negative];
        let fail = named(op, &all);
        let dim = dim.into();
        let norm = PairwiseDistanceOptions {
            p: options.p,
            eps: options.eps,
        };
        let near = self
            .pairwise_distance_with(positive, dim, norm)
            .map_err(&fail)?;
        let mut far = self
            .pairwise_distance_with(negative, dim, norm)
            .map_err(&fail)?;
        if options.swap {
            let swapped = positive
                .pairwise_distance_with(negative, dim, norm)
                .map_err(&fail)?;
            far = far.minimum(&swapped).map_err(&fail)?;
        }
        let terms = near
            .sub(&far)
            .and_then(|x| x.add(options.margin)?.clamp_min(0.0));
        terms.map_err(&fail)?.reduced(op, reduction)
    }
}
