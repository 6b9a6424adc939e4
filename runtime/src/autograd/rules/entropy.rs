//! Gradients of cross entropy against class indices.

use nomina_core::op::Op;
use nomina_core::{DType, Result};

use crate::call::arithmetic::{apply, choose, mul, number, scaled, sub, sum};
use crate::call::{Scales, cat, full, row_gradient, softmax, to_dtype};
use crate::job::{RowGradient, Update};
use crate::raw::Raw;
use crate::tape::{Addressing, Backward, DimIndex, EntropySaved, Upstream};

impl EntropySaved {
    /// Sets the gradient of ignored rows to zero: the mean of no rows is NaN.
    fn zero_ignored(&self, grad: &Raw) -> Result<Raw> {
        choose(&self.ignored, number(0.0), grad.into())
    }

    /// Computes the softmax times a factor of each row, in one pass unless it is recorded.
    fn scaled_softmax(&self, op: Op, log_sum: &Raw, factor: &Raw, records: bool) -> Result<Raw> {
        if records {
            return mul(&softmax(Op::Softmax, &self.x, self.dim, None)?, factor);
        }
        let x = self.x.clone().detach();
        let column = |x: &Raw| {
            let all = x.clone().detach().expand(log_sum.shape())?;
            to_dtype(&all, DType::F64)?.reshape(&[log_sum.numel(), 1])
        };
        let numbers = cat(&[&column(log_sum)?, &column(factor)?], 1)?;
        let scales = Scales {
            numbers: Some(&numbers),
            ..Scales::default()
        };
        let name = op.name();
        match row_gradient(name, RowGradient::Entropy, &x, &x, &[self.dim], scales)? {
            Some(found) => Ok(found),
            None => mul(&softmax(Op::Softmax, &x, self.dim, None)?, factor),
        }
    }
}

impl Backward for EntropySaved {
    /// With q the weighted and smoothed target: (softmax(x) sum(q, true) - q) g for logits, -q g for logarithms.
    fn gradient(&self, upstream: &Upstream<'_>, _: usize) -> Result<Option<Raw>> {
        let (op, grad, records) = (upstream.op(), upstream.grad()?, upstream.records());
        let grad = match (self.each, &self.divisor) {
            (true, _) => grad.unsqueeze(self.dim)?,
            (_, None) => grad,
            (_, Some(divisor)) if divisor.device().is_cuda() => {
                let grad = apply(
                    Op::Div,
                    [(&to_dtype(&grad, DType::F64)?).into(), divisor.into()],
                )?;
                self.zero_ignored(&to_dtype(&grad, self.x.dtype())?)?
            }
            (_, Some(divisor)) => {
                let divisor = divisor.get::<f64>(&[])?;
                let grad = scaled(&grad, 1.0 / divisor)?;
                if divisor == 0.0 {
                    self.zero_ignored(&grad)?
                } else {
                    grad
                }
            }
        };
        let (own, spread) = (
            1.0 - self.smoothing,
            self.smoothing / self.x.shape()[self.dim] as f64,
        );
        let target = mul(&scaled(&self.weight, -own)?, &grad)?;
        let all = match (&self.weights, self.smoothing == 0.0) {
            (_, true) => None,
            (weights, _) => {
                let all = self.zero_ignored(&grad)?;
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
                self.scaled_softmax(op, log_sum, &mul(&self.weight, &grad)?, records)?
            }
            (Some(log_sum), Some(all)) => {
                let shared = all.expand(self.x.shape())?;
                let whole = sub(&sum(&shared, &[self.dim], true)?, &target)?;
                self.scaled_softmax(op, log_sum, &whole, records)?
            }
        };
        let dense = match &all {
            Some(all) => sub(&dense, all)?,
            None => dense,
        };
        let index = DimIndex {
            op,
            addressing: Addressing::Elements,
            dim: self.dim,
            index: self.index.clone(),
        };
        let target = target.expand(self.index.shape())?;
        index.update(dense, &target, Update::Add).map(Some)
    }
}
