//! Cross entropy against indices of classes.

use nomina_core::op::Op;
use nomina_core::{DType, Result, Scalar};

use super::arithmetic::{add, apply, choose, mul, number, replaced, scaled, sub, sum};
use super::by::{Back, by};
use super::pick::{Addressing, At};
use super::rows::{Scales, row_gradient};
use crate::SmallVec;
use crate::call::{
    Entropy, Losses, ReduceOptions, cat, full, gather, index_select, reduce, softmax, to_dtype,
};
use crate::job::{RowGradient, Update};
use crate::raw::Raw;
use crate::shape::Shape;

struct Entropies {
    op: Op,
    x: Raw,
    dim: usize,
    /// The class of each row, with the dim of classes; that of rows which do not count is 0.
    index: Raw,
    /// What each row counts, with the dim of classes: the weight of its class, or 0.
    weight: Raw,
    /// The rows that do not count, with the dim of classes.
    ignored: Raw,
    /// All weights, along the dim of classes.
    weights: Option<Raw>,
    smoothing: f64,
    /// Of logits, the logarithm of each row's sum of exponentials, with the dim of classes.
    log_sum: Option<Raw>,
    losses: Losses,
    /// What the sum of all rows was divided by, in f64.
    divisor: Option<Raw>,
}

/// Losses of rows, or of all rows over `divisor`; `each` is the loss of each row, in f64.
#[allow(clippy::too_many_arguments, reason = "they are the operator's")]
pub(in crate::call) fn entropies(
    op: Op,
    out: Raw,
    x: &Raw,
    target: &Raw,
    dim: usize,
    options: Entropy<'_>,
    each: &Raw,
    (losses, divisor): (Losses, Option<Raw>),
) -> Result<Raw> {
    let mut own = Entropies::new(op, x, target, dim, options)?;
    (own.losses, own.divisor) = (losses, divisor);
    if options.logits {
        own.log_sum = Some(own.log_sum(each)?);
    }
    by(op, out, [x], || {
        move |back: &Back<'_>, _| own.gradient(back).map(Some)
    })
}

impl Entropies {
    fn new(op: Op, x: &Raw, target: &Raw, dim: usize, options: Entropy<'_>) -> Result<Self> {
        let ignored = Scalar::Int(options.ignore_index);
        let ignored = apply(Op::Eq, [target.into(), ignored.into()])?;
        let zero = Scalar::Int(0);
        let index = choose(&ignored, zero.into(), target.into())?;
        let one = full(&[], Scalar::Int(1), x.dtype(), x.device())?;
        let own = match options.weight {
            Some(weight) => {
                let weight = to_dtype(&weight.clone().detach(), x.dtype())?;
                let classes: SmallVec<[usize; 1]> = std::iter::once(index.numel()).collect();
                index_select(op, &weight, 0, &index.reshape(&classes)?)?.reshape(index.shape())?
            }
            None => one,
        };
        let weight = choose(&ignored, number(0.0), (&own).into())?;
        let along = |weight: &Raw| {
            let mut shape = Shape::from_elem(1, x.rank());
            shape[dim] = weight.numel();
            to_dtype(&weight.clone().detach(), x.dtype())?.reshape(&shape)
        };
        Ok(Self {
            op,
            x: x.clone(),
            dim,
            index: index.unsqueeze(dim)?,
            weight: to_dtype(&weight, x.dtype())?.unsqueeze(dim)?,
            ignored: ignored.unsqueeze(dim)?,
            weights: options.weight.map(along).transpose()?,
            smoothing: options.smoothing,
            log_sum: None,
            losses: Losses::Each,
            divisor: None,
        })
    }

    /// The logarithms of the rows' sums. A plain loss is what the true class lacks to it.
    fn log_sum(&self, each: &Raw) -> Result<Raw> {
        let x = self.x.clone().detach();
        if self.weights.is_some() || self.smoothing != 0.0 {
            let sums = reduce(
                Op::Logsumexp,
                &x,
                &[self.dim],
                true,
                ReduceOptions::default(),
            )?;
            return to_dtype(&sums, DType::F64);
        }
        let each = each.unsqueeze(self.dim)?;
        let own = to_dtype(&gather(self.op, &x, self.dim, &self.index)?, DType::F64)?;
        replaced(&self.ignored, f64::INFINITY, &add(&each, &own)?)
    }

    /// Nothing for rows that do not count: the mean of none is no number.
    fn counted(&self, grad: &Raw) -> Result<Raw> {
        choose(&self.ignored, number(0.0), grad.into())
    }

    /// The softmax times what is the same for a row, in one pass where it is not recorded.
    fn chances(&self, log_sum: &Raw, factor: &Raw, records: bool) -> Result<Raw> {
        if records {
            return mul(&softmax(Op::Softmax, &self.x, self.dim, None)?, factor);
        }
        let x = self.x.clone().detach();
        let column = |of: &Raw| {
            let all = of.clone().detach().expand(log_sum.shape())?;
            to_dtype(&all, DType::F64)?.reshape(&[log_sum.numel(), 1])
        };
        let numbers = cat(&[&column(log_sum)?, &column(factor)?], 1)?;
        let scales = Scales {
            numbers: Some(&numbers),
            ..Scales::default()
        };
        let name = self.op.name();
        match row_gradient(name, RowGradient::Entropy, &x, &x, &[self.dim], scales)? {
            Some(found) => Ok(found),
            None => mul(&softmax(Op::Softmax, &x, self.dim, None)?, factor),
        }
    }

    /// With q the weighted target, smoothed: (softmax(x) sum(q, true) - q) g of logits, -q g of logarithms.
    fn gradient(&self, back: &Back<'_>) -> Result<Raw> {
        let grad = back.grad()?;
        let grad = match (self.losses, &self.divisor) {
            (Losses::Each, _) => grad.unsqueeze(self.dim)?,
            (_, None) => grad,
            (_, Some(divisor)) if divisor.device().is_cuda() => {
                let grad = apply(
                    Op::Div,
                    [(&to_dtype(&grad, DType::F64)?).into(), divisor.into()],
                )?;
                self.counted(&to_dtype(&grad, self.x.dtype())?)?
            }
            (_, Some(divisor)) => {
                let divisor = divisor.get::<f64>(&[])?;
                let grad = scaled(&grad, 1.0 / divisor)?;
                match divisor == 0.0 {
                    true => self.counted(&grad)?,
                    false => grad,
                }
            }
        };
        let (own, spread) = (
            1.0 - self.smoothing,
            self.smoothing / self.x.shape()[self.dim] as f64,
        );
        let put = mul(&scaled(&self.weight, -own)?, &grad)?;
        let all = match (&self.weights, self.smoothing == 0.0) {
            (_, true) => None,
            (weights, _) => {
                let all = self.counted(&grad)?;
                let share = match weights {
                    Some(weights) => scaled(weights, spread)?,
                    None => full(&[], spread.into(), self.x.dtype(), self.x.device())?,
                };
                Some(mul(&share, &all)?)
            }
        };
        let dense = match (&self.log_sum, &all) {
            (None, _) => Raw::zeros("backward", self.x.shape(), self.x.dtype(), self.x.device())?,
            (Some(log_sum), None) => {
                self.chances(log_sum, &mul(&self.weight, &grad)?, back.records())?
            }
            (Some(log_sum), Some(all)) => {
                let shared = all.expand(self.x.shape())?;
                let whole = sub(&sum(&shared, &[self.dim], true)?, &put)?;
                self.chances(log_sum, &whole, back.records())?
            }
        };
        let dense = match &all {
            Some(all) => sub(&dense, all)?,
            None => dense,
        };
        let at = At {
            op: self.op,
            way: Addressing::Elements,
            dim: self.dim,
            index: self.index.clone(),
        };
        at.put(dense, &put.expand(self.index.shape())?, Update::Add)
    }
}
