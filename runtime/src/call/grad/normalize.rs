//! Gradients of rows that were normalised to mean zero and variance one.

use nomina_core::op::Op;
use nomina_core::{DType, Result, Scalar};

use super::arithmetic::{apply, mul, number, sub};
use super::by::{Back, by};
use super::lines::Line;
use super::lines::Step::{self, Apply, Grad, Number, Operand as ResultGrads, Over as Sum};
use super::read::{Operand, Over, Read};
use super::rows::{Scales, row_gradient};
use crate::SmallVec;
use crate::call::{Affine, ReduceOptions, reduce, to_dtype};
use crate::cpu::norm::slope;
use crate::job::RowGradient;
use crate::raw::Raw;
use crate::shape::Shape;

/// Rows whose mean is at least this many times their deviation go back in `f64`.
const FAR: f64 = 8.0;

// The operands of the steps: x, 1 / σ, the weight, the mean.
/// The normalised elements, as step 4.
const CENTRED: &[Step] = &[
    ResultGrads(0),
    ResultGrads(3),
    Apply(Op::Sub, &[0, 1]),
    ResultGrads(1),
    Apply(Op::Mul, &[2, 3]),
];

/// With n normalised and h = g weight: (h - mean(h) - n mean(h n)) / σ.
const INPUT: &[Step] = &[
    CENTRED[0],
    CENTRED[1],
    CENTRED[2],
    CENTRED[3],
    CENTRED[4],
    Grad,
    ResultGrads(2),
    Apply(Op::Mul, &[5, 6]),
    Sum(Op::Mean, 7, true),
    Apply(Op::Mul, &[7, 4]),
    Sum(Op::Mean, 9, true),
    Apply(Op::Sub, &[7, 8]),
    Apply(Op::Mul, &[4, 10]),
    Apply(Op::Sub, &[11, 12]),
    Apply(Op::Mul, &[13, 3]),
];

/// Without a mean: (h - n mean(h n)) / σ.
const INPUT_OF_RMS: &[Step] = &[
    ResultGrads(0),
    ResultGrads(1),
    Apply(Op::Mul, &[0, 1]),
    Grad,
    ResultGrads(2),
    Apply(Op::Mul, &[3, 4]),
    Apply(Op::Mul, &[5, 2]),
    Sum(Op::Mean, 6, true),
    Apply(Op::Mul, &[2, 7]),
    Apply(Op::Sub, &[5, 8]),
    Apply(Op::Mul, &[9, 1]),
];

/// Sums of g n.
const WEIGHT: &[Step] = &[
    CENTRED[0],
    CENTRED[1],
    CENTRED[2],
    CENTRED[3],
    CENTRED[4],
    Grad,
    Apply(Op::Mul, &[4, 5]),
    Sum(Op::Sum, 6, true),
];

/// Sums of g.
const BIAS: &[Step] = &[
    Grad,
    Number(1.0),
    Apply(Op::Mul, &[0, 1]),
    Sum(Op::Sum, 2, true),
];

struct Normalized {
    op: Op,
    x: Raw,
    weight: Option<Raw>,
    /// The mean and the standard deviation of each row.
    stats: Raw,
    dims: SmallVec<[usize; 8]>,
    /// The sizes of the statistics.
    kept: Shape,
    rms: bool,
    eps: f64,
    /// The dims over which the weight and the bias are repeated.
    repeated: [SmallVec<[usize; 8]>; 2],
}

/// The dims of `x` that an operand repeats.
fn repeated(x: &Raw, of: Option<&Raw>) -> SmallVec<[usize; 8]> {
    let size = |dim: usize| {
        let of = of?;
        of.shape()
            .get((dim + of.rank()).checked_sub(x.rank())?)
            .copied()
    };
    (0..x.rank())
        .filter(|&dim| size(dim) != Some(x.shape()[dim]))
        .collect()
}

/// A result of rows along `dims`, with the mean and the standard deviation of each.
pub(in crate::call) fn normalized(
    op: Op,
    out: Raw,
    x: &Raw,
    dims: &[usize],
    (rms, eps): (bool, f64),
    affine: Affine<'_>,
    stats: &Raw,
) -> Result<Raw> {
    let make = || {
        let mut kept = Shape::from_slice(x.shape());
        dims.iter().for_each(|&dim| kept[dim] = 1);
        let own = Normalized {
            op,
            x: x.clone(),
            weight: affine.weight.cloned(),
            stats: stats.clone(),
            dims: dims.into(),
            kept,
            rms,
            eps,
            repeated: [repeated(x, affine.weight), repeated(x, affine.bias)],
        };
        move |back: &Back<'_>, operand: usize| own.gradient(back, operand).map(Some)
    };
    // As many operands as there are: the weight is the second, the bias the last.
    match (affine.weight, affine.bias) {
        (Some(weight), Some(bias)) => by(op, out, [x, weight, bias], make),
        (Some(weight), None) => by(op, out, [x, weight], make),
        (None, Some(bias)) => by(op, out, [x, bias], || {
            let own = make();
            move |back: &Back<'_>, operand: usize| own(back, if operand == 0 { 0 } else { 2 })
        }),
        (None, None) => by(op, out, [x], make),
    }
}

impl Normalized {
    fn gradient(&self, back: &Back<'_>, operand: usize) -> Result<Raw> {
        let grad = back.grad()?;
        if operand == 0 && !back.records() {
            let by = RowGradient::Norm {
                rms: self.rms,
                eps: self.eps,
            };
            let scales = Scales {
                weight: self.weight.as_ref(),
                numbers: Some(&self.stats),
            };
            let name = self.op.name();
            if let Some(found) = row_gradient(name, by, &self.x, &grad, &self.dims, scales)? {
                return Ok(found);
            }
        }
        // In a half, the differences of what is nearly equal would be noise.
        let wide = self.wide()?;
        let grad = to_dtype(&grad, wide)?;
        let (mean, slope) = if back.records() {
            self.recorded_stats(wide)?
        } else {
            self.stats(wide)?
        };
        let x = to_dtype(&self.x, wide)?;
        let weight = match &self.weight {
            Some(weight) => Operand::Tensor(weight),
            None => Operand::Number(Scalar::Float(1.0)),
        };
        let operands = [
            Operand::Tensor(&x),
            Operand::Tensor(&slope),
            weight,
            Operand::Tensor(&mean),
        ];
        let dims = match operand {
            0 => &self.dims,
            at => &self.repeated[at - 1],
        };
        let over = Over::new(&self.x, dims, &self.x);
        let read = Read {
            op: self.op,
            grad: &grad,
            result: None,
            operands: &operands,
            over: Some(&over),
        };
        let steps = match operand {
            0 if self.rms => INPUT_OF_RMS,
            0 => INPUT,
            1 => WEIGHT,
            _ => BIAS,
        };
        read.computed(&Line::new(0, steps), back.records())
    }

    /// The dtype of what is computed: at least `f32`, and `f64` where rows lie so far from zero, or at such an
    /// end of the range, that `f32` loses them.
    fn wide(&self) -> Result<DType> {
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

    /// The mean and 1 / σ, as they were found forward.
    fn stats(&self, wide: DType) -> Result<(Raw, Raw)> {
        let column = |at: usize| self.stats.select(1, at)?.reshape(&self.kept);
        let root = number(self.eps.sqrt());
        let deviation = apply(Op::Hypot, [(&column(1)?).into(), root])?;
        let slope = apply(Op::Reciprocal, [(&deviation).into()])?;
        Ok((to_dtype(&column(0)?, wide)?, to_dtype(&slope, wide)?))
    }

    /// Like [`Normalized::stats`], but recorded. Squares are taken of what a constant factor for each row brings
    /// near one.
    fn recorded_stats(&self, wide: DType) -> Result<(Raw, Raw)> {
        let x = to_dtype(&self.x, wide)?;
        let average = |x: &Raw| reduce(Op::Mean, x, &self.dims, true, ReduceOptions::default());
        let mean = if self.rms {
            Raw::zeros(self.op.name(), &self.kept, x.dtype(), x.device())?
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
