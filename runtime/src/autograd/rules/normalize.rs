//! Gradients of rows normalised to mean zero and variance one.

use nomina_core::op::Op;
use nomina_core::{DType, Result, Scalar};

use super::evaluation::{Evaluation, LineOperand};
use crate::call::arithmetic::{apply, mul, number, sub};
use crate::call::{ReduceOptions, Scales, norm_weight_gradient, reduce, row_gradient, to_dtype};
use crate::cpu::norm::slope;
use crate::job::RowGradient;
use crate::raw::Raw;
use crate::tape::Step::{self, Apply, Grad, Number, Operand as Read, Over};
use crate::tape::{Backward, Line, NormalizeSaved, ReducedDims, Upstream};

/// Gradients of rows whose mean is at least this many times their deviation are computed in `f64`.
const FAR: f64 = 8.0;

// The operands of the steps are x, 1 / σ, the weight and the mean.
/// The normalised elements, which are step 4.
const CENTRED: &[Step] = &[
    Read(0),
    Read(3),
    Apply(Op::Sub, &[0, 1]),
    Read(1),
    Apply(Op::Mul, &[2, 3]),
];

/// The gradient of the input, with n the normalised elements and h = g weight: (h - mean(h) - n mean(h n)) / σ.
const INPUT: &[Step] = &[
    CENTRED[0],
    CENTRED[1],
    CENTRED[2],
    CENTRED[3],
    CENTRED[4],
    Grad,
    Read(2),
    Apply(Op::Mul, &[5, 6]),
    Over(Op::Mean, 7, true),
    Apply(Op::Mul, &[7, 4]),
    Over(Op::Mean, 9, true),
    Apply(Op::Sub, &[7, 8]),
    Apply(Op::Mul, &[4, 10]),
    Apply(Op::Sub, &[11, 12]),
    Apply(Op::Mul, &[13, 3]),
];

/// The gradient of the input without a mean: (h - n mean(h n)) / σ.
const INPUT_OF_RMS: &[Step] = &[
    Read(0),
    Read(1),
    Apply(Op::Mul, &[0, 1]),
    Grad,
    Read(2),
    Apply(Op::Mul, &[3, 4]),
    Apply(Op::Mul, &[5, 2]),
    Over(Op::Mean, 6, true),
    Apply(Op::Mul, &[2, 7]),
    Apply(Op::Sub, &[5, 8]),
    Apply(Op::Mul, &[9, 1]),
];

/// The gradient of the weight: sums of g n.
const WEIGHT: &[Step] = &[
    CENTRED[0],
    CENTRED[1],
    CENTRED[2],
    CENTRED[3],
    CENTRED[4],
    Grad,
    Apply(Op::Mul, &[4, 5]),
    Over(Op::Sum, 6, true),
];

/// The gradient of the bias: sums of g.
const BIAS: &[Step] = &[
    Grad,
    Number(1.0),
    Apply(Op::Mul, &[0, 1]),
    Over(Op::Sum, 2, true),
];

impl NormalizeSaved {
    /// Returns the dtype to compute in: `f32`, or `f64` if rows are so far from zero, or so large or small, that `f32` is not precise
    /// enough.
    fn wide_dtype(&self) -> Result<DType> {
        let ordinary = match self.x.dtype() {
            DType::F64 => false,
            _ if !self.stats.device().is_cpu() => true,
            _ => {
                let stats = self.stats.to_vec::<f64>()?;
                stats.chunks_exact(2).all(|row| {
                    let slope = slope(row[1], self.eps);
                    (1e-15..1e15).contains(&slope) && row[0].abs() < FAR / slope
                })
            }
        };
        Ok(if ordinary { DType::F32 } else { DType::F64 })
    }

    /// Returns the number of dims that are normalised if they are the last ones and those of the weight.
    fn last_dims(&self) -> Option<usize> {
        let (rank, count) = (self.x.rank(), self.dims.len());
        let is_last = |dim: &usize| *dim >= rank - count;
        let others = self.repeated[0].iter().copied().eq(0..rank - count);
        (others && self.dims.iter().all(is_last)).then_some(count)
    }

    /// Returns the mean and 1 / σ of the forward pass.
    fn stats(&self, wide: DType) -> Result<(Raw, Raw)> {
        let column = |at: usize| self.stats.select(1, at)?.reshape(&self.kept);
        let root = number(self.eps.sqrt());
        let deviation = apply(Op::Hypot, [(&column(1)?).into(), root])?;
        let slope = apply(Op::Reciprocal, [(&deviation).into()])?;
        Ok((to_dtype(&column(0)?, wide)?, to_dtype(&slope, wide)?))
    }

    /// Like [`NormalizeSaved::stats`], but recorded. A constant factor brings each row near one before it is squared.
    fn recorded_stats(&self, op: Op, wide: DType) -> Result<(Raw, Raw)> {
        let x = to_dtype(&self.x, wide)?;
        let average = |x: &Raw| reduce(Op::Mean, x, &self.dims, true, ReduceOptions::default());
        let mean = if self.rms {
            Raw::zeros(op.name(), &self.kept, x.dtype(), x.device())?
        } else {
            average(&x)?
        };
        let (_, scale) = self.stats(wide)?;
        // A power of two, so that nothing is rounded.
        let exponent = apply(Op::Floor, [(&apply(Op::Log2, [(&scale).into()])?).into()])?;
        let scale = apply(Op::Exp2, [(&exponent).into()])?;
        let centred = mul(&sub(&x, &mean)?, &scale)?;
        let variance = average(&mul(&centred, &centred)?)?;
        let eps = apply(Op::Mul, [(&scale).into(), number(self.eps.sqrt())])?;
        let variance = apply(Op::Add, [(&variance).into(), (&mul(&eps, &eps)?).into()])?;
        let slope = apply(Op::Rsqrt, [(&variance).into()])?;
        Ok((mean, mul(&slope, &scale)?))
    }
}

impl Backward for NormalizeSaved {
    fn gradient(&self, upstream: &Upstream<'_>, operand: usize) -> Result<Option<Raw>> {
        let (op, grad, records) = (upstream.op(), upstream.grad()?, upstream.records());
        // Without a weight the bias is the second operand.
        let operand = match operand {
            1 if self.weight.is_none() => 2,
            operand => operand,
        };
        if operand == 0 && !records {
            let by = RowGradient::Norm {
                rms: self.rms,
                eps: self.eps,
            };
            let scales = Scales {
                weight: self.weight.as_ref(),
                numbers: Some(&self.stats),
            };
            if let Some(found) = row_gradient(op.name(), by, &self.x, &grad, &self.dims, scales)? {
                return Ok(Some(found));
            }
        }
        // In 16 bits, differences of nearly equal numbers would be noise.
        let wide = self.wide_dtype()?;
        if operand == 1
            && wide == self.x.dtype()
            && !records
            && let Some(dims) = self.last_dims()
        {
            let numbers = (&self.stats, self.eps);
            if let Some(found) = norm_weight_gradient(op.name(), &self.x, &grad, dims, numbers)? {
                return Ok(Some(found));
            }
        }
        let grad = to_dtype(&grad, wide)?;
        let (mean, slope) = if records {
            self.recorded_stats(op, wide)?
        } else {
            self.stats(wide)?
        };
        let x = to_dtype(&self.x, wide)?;
        let weight = match &self.weight {
            Some(weight) => LineOperand::Tensor(weight),
            None => LineOperand::Number(Scalar::Float(1.0)),
        };
        let operands = [
            LineOperand::Tensor(&x),
            LineOperand::Tensor(&slope),
            weight,
            LineOperand::Tensor(&mean),
        ];
        let dims = match operand {
            0 => &self.dims,
            at => &self.repeated[at - 1],
        };
        let reduced = ReducedDims::new(&self.x, dims, &self.x);
        let reading = Evaluation {
            op,
            grad: &grad,
            result: None,
            operands: &operands,
            reduced: Some(&reduced),
        };
        let steps = match operand {
            0 if self.rms => INPUT_OF_RMS,
            0 => INPUT,
            1 => WEIGHT,
            _ => BIAS,
        };
        reading.compute(&Line::new(0, steps), records).map(Some)
    }
}
