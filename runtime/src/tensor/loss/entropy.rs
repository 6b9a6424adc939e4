//! Cross entropies.

use nomina_core::op::Op;
use nomina_core::rule::{self, DimArg, DimRef};
use nomina_core::{Error, ErrorKind, Result};

use super::{BinaryCrossEntropyOptions, CrossEntropyOptions, Reduction, named, negative};
use crate::call::{self, Entropy, Losses};
use crate::tensor::{DynTensor, Operand, about, family};

impl DynTensor {
    /// Computes the mean cross entropy of logits along a dim, against the index of the true class,
    /// or against probabilities if the target also has that dim.
    ///
    /// # Errors
    /// If the dim does not exist, names do not unify, sizes differ, or a target is not a class.
    pub fn cross_entropy<'a>(&self, target: &Self, dim: impl Into<DimRef<'a>>) -> Result<Self> {
        let options = CrossEntropyOptions::default();
        self.cross_entropy_with(target, dim, Reduction::Mean, options)
    }

    /// Like [`DynTensor::cross_entropy`], but with the given reduction and weights.
    ///
    /// # Errors
    /// Like [`DynTensor::cross_entropy`]; also if the weight does not match.
    pub fn cross_entropy_with<'a>(
        &self,
        target: &Self,
        dim: impl Into<DimRef<'a>>,
        reduction: Reduction,
        options: CrossEntropyOptions<'_>,
    ) -> Result<Self> {
        let op = Op::CrossEntropy;
        let at = self.class_dim(op, target, dim.into())?;
        if !(0.0..=1.0).contains(&options.label_smoothing) {
            let smoothing = options.label_smoothing;
            return Err(negative(op, "label_smoothing", smoothing, &[self, target])
                .hint("give a share from 0 to 1"));
        }
        if target.rank() == self.rank() && target.dtype().is_float() {
            return self.soft_targets(target, at, reduction, options);
        }
        self.classes(op, target, at, reduction, options)
    }

    /// Computes the mean of the negated numbers at the targets along a dim: the cross entropy of
    /// log-probabilities.
    ///
    /// # Errors
    /// Like [`DynTensor::cross_entropy`].
    pub fn nll_loss<'a>(&self, target: &Self, dim: impl Into<DimRef<'a>>) -> Result<Self> {
        self.nll_loss_with(target, dim, Reduction::Mean, CrossEntropyOptions::default())
    }

    /// Like [`DynTensor::nll_loss`], but with the given reduction and weights.
    ///
    /// # Errors
    /// Like [`DynTensor::cross_entropy_with`].
    pub fn nll_loss_with<'a>(
        &self,
        target: &Self,
        dim: impl Into<DimRef<'a>>,
        reduction: Reduction,
        options: CrossEntropyOptions<'_>,
    ) -> Result<Self> {
        let at = self.class_dim(Op::NllLoss, target, dim.into())?;
        self.classes(Op::NllLoss, target, at, reduction, options)
    }

    fn class_dim(&self, op: Op, target: &Self, dim: DimRef<'_>) -> Result<usize> {
        let found = DimArg::from_dim(dim).single(op.name(), &self.names);
        found
            .map_err(|e| about(e, &[self, target]))?
            .ok_or_else(|| {
                let error = Error::new(ErrorKind::Rank, op.name(), "a number has no classes");
                about(error, &[self, target]).hint("give logits with a dim of classes")
            })
    }

    /// Computes the losses against the index of a class for each row.
    fn classes(
        &self,
        op: Op,
        target: &Self,
        at: usize,
        reduction: Reduction,
        options: CrossEntropyOptions<'_>,
    ) -> Result<Self> {
        let fail = |e| about(e, &[self, target]);
        let rows = rule::reduce(&self.names, &[at], false);
        if rows.len() != target.rank() {
            let what = format!("targets of {} dims, not {}", target.rank(), rows.len());
            return Err(fail(
                Error::new(ErrorKind::Shape, op.name(), what)
                    .hint("give one target for each row, without the dim of classes"),
            ));
        }
        let names = rule::unify(op.name(), &rows, &target.names).map_err(fail)?;
        self.weight_fits(op, options.weight, at)?;
        let entropy = Entropy {
            logits: op == Op::CrossEntropy,
            weight: options.weight.map(|weight| &weight.raw),
            ignore_index: options.ignore_index,
            smoothing: options.label_smoothing,
        };
        let losses = match reduction {
            Reduction::None => Losses::Each,
            Reduction::Sum => Losses::Sum,
            Reduction::Mean => Losses::Mean,
        };
        let found = call::entropy(op, &self.raw, &target.raw, at, entropy, losses);
        let names = match losses {
            Losses::Each => names,
            _ => nomina_core::Names::default(),
        };
        Ok(Self::new(found.map_err(fail)?, names))
    }

    /// Computes the losses against probabilities of all classes.
    fn soft_targets(
        &self,
        target: &Self,
        at: usize,
        reduction: Reduction,
        options: CrossEntropyOptions<'_>,
    ) -> Result<Self> {
        let op = Op::CrossEntropy;
        let both = [self, target];
        let fail = named(op, &both);
        if self.shape() != target.shape() {
            let what = "logits and probabilities of different sizes";
            return Err(
                fail(Error::new(ErrorKind::Shape, op.name(), what)).hint("give one for each class")
            );
        }
        op.row().check_dtype(self.dtype()).map_err(&fail)?;
        self.weight_fits(op, options.weight, at)?;
        let keep = DimArg::from_dim(at).keep();
        let mut spread = target.clone();
        if options.label_smoothing != 0.0 {
            let share = options.label_smoothing / self.shape()[at].max(1) as f64;
            spread = spread
                .mul(1.0 - options.label_smoothing)
                .and_then(|x| x.add(share))
                .map_err(&fail)?;
        }
        if let Some(weight) = options.weight {
            let mut sizes = vec![1; self.rank()];
            sizes[at] = self.shape()[at];
            let raw = weight.raw.reshape(&sizes).map_err(&fail)?;
            let weight = Self::new(raw, nomina_core::Names::unnamed(sizes.len()));
            spread = spread.mul(&weight).map_err(&fail)?;
        }
        // ln softmax is `x` minus its logsumexp.
        let logs = self
            .logsumexp(keep)
            .and_then(|all| all.sub(self))
            .map_err(&fail)?;
        let terms = logs
            .mul(&spread)
            .and_then(|x| x.sum(DimArg::from_dim(at)))
            .map_err(&fail)?;
        match reduction {
            Reduction::None => Ok(terms),
            Reduction::Sum => terms.sum(..),
            // The mean over rows, independent of the weights.
            Reduction::Mean => terms.mean(..),
        }
        .map_err(&fail)
    }

    fn weight_fits(&self, op: Op, weight: Option<&Self>, at: usize) -> Result<()> {
        let Some(weight) = weight else { return Ok(()) };
        let fail = |e| about(e, &[self, weight]);
        if weight.rank() != 1 || weight.numel() != self.shape()[at] {
            let what = format!("a weight of sizes {:?}", weight.shape());
            return Err(fail(
                Error::new(ErrorKind::Shape, op.name(), what)
                    .at(0, at)
                    .hint("give one number for each class"),
            ));
        }
        let class = rule::kept(&self.names, &[at]);
        rule::unify(op.name(), &class, &weight.names).map_err(fail)?;
        Ok(())
    }

    /// Computes the mean cross entropy of probabilities of two classes.
    ///
    /// # Errors
    /// If names do not unify, sizes differ, or an element is not a probability.
    pub fn binary_cross_entropy(&self, target: &Self) -> Result<Self> {
        let options = BinaryCrossEntropyOptions::default();
        self.binary_cross_entropy_with(target, Reduction::Mean, options)
    }

    /// Like [`DynTensor::binary_cross_entropy`], but with the given reduction and weights.
    ///
    /// # Errors
    /// Like [`DynTensor::binary_cross_entropy`].
    pub fn binary_cross_entropy_with(
        &self,
        target: &Self,
        reduction: Reduction,
        options: BinaryCrossEntropyOptions<'_>,
    ) -> Result<Self> {
        let op = Op::BinaryCrossEntropy;
        let both = [self, target];
        let fail = named(op, &both);
        op.row().check_dtype(self.dtype()).map_err(&fail)?;
        self.same_sizes(op, target)?;
        if self.numel() > 0 {
            for extreme in [self.amin(..), self.amax(..)] {
                let extreme = extreme.and_then(|x| x.item()).map_err(&fail)?.to_f64();
                // NaN is not reported as out of range.
                if !(0.0..=1.0).contains(&extreme) && !extreme.is_nan() {
                    let what = format!("{extreme} is no probability");
                    let error = Error::new(ErrorKind::Argument, op.name(), what);
                    return Err(fail(error).hint("give numbers from 0 to 1"));
                }
            }
        }
        let operands = [self.into(), target.into()];
        let terms = family::pointwise(Op::BinaryEntropy, &operands).map_err(&fail)?;
        Self::weighted(op, terms, options.weight)?.reduced(op, reduction)
    }

    /// Computes the mean cross entropy of logits of two classes.
    ///
    /// # Errors
    /// If names do not unify, or sizes differ.
    pub fn binary_cross_entropy_with_logits(&self, target: &Self) -> Result<Self> {
        let options = BinaryCrossEntropyOptions::default();
        self.binary_cross_entropy_with_logits_with(target, Reduction::Mean, options)
    }

    /// Like [`DynTensor::binary_cross_entropy_with_logits`], but with the given reduction and
    /// weights.
    ///
    /// # Errors
    /// Like [`DynTensor::binary_cross_entropy_with_logits`].
    pub fn binary_cross_entropy_with_logits_with(
        &self,
        target: &Self,
        reduction: Reduction,
        options: BinaryCrossEntropyOptions<'_>,
    ) -> Result<Self> {
        let op = Op::BinaryCrossEntropyWithLogits;
        let both = [self, target];
        let fail = named(op, &both);
        op.row().check_dtype(self.dtype()).map_err(&fail)?;
        self.same_sizes(op, target)?;
        let positive = options
            .pos_weight
            .map_or(Operand::Scalar(1.0.into()), Operand::Tensor);
        let operands = [self.into(), target.into(), positive];
        let terms = family::pointwise(Op::LogitEntropy, &operands).map_err(&fail)?;
        Self::weighted(op, terms, options.weight)?.reduced(op, reduction)
    }

    fn weighted(op: Op, terms: Self, weight: Option<&Self>) -> Result<Self> {
        match weight {
            Some(weight) => terms.mul(weight).map_err(|e| e.in_op(op.name())),
            None => Ok(terms),
        }
    }

    fn same_sizes(&self, op: Op, target: &Self) -> Result<()> {
        // Names are reported before sizes.
        let fail = |e| about(e, &[self, target]);
        rule::unify(op.name(), &self.names, &target.names).map_err(fail)?;
        if self.shape() == target.shape() {
            return Ok(());
        }
        let shapes = [self.shape(), target.shape()];
        let apart = shapes[0].iter().zip(shapes[1]).position(|(a, b)| a != b);
        let error = match apart.filter(|_| self.rank() == target.rank()) {
            Some(dim) => Error::sizes(op.name(), shapes, [(0, dim), (1, dim)]),
            None => Error::new(ErrorKind::Shape, op.name(), "the target's sizes differ"),
        };
        Err(fail(error.hint("give a target for each element")))
    }
}
