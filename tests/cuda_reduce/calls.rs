//! The calls that are compared, by operator class.

use std::fmt;

use nomina_core::DType;
use nomina_core::op::Op;
use nomina_runtime::Raw;
use nomina_runtime::call::{
    Affine, Entropy, Losses, ReduceOptions, arg_position, arg_reduce, entropy, normalize, reduce,
    scan, softmax,
};

use super::compare::{Compared, Twins, sample};

/// The description of a case, for errors.
pub struct Case<'a> {
    pub op: Op,
    pub x: &'a Raw,
    pub dims: &'a [usize],
    pub note: &'a str,
}

impl fmt::Display for Case<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (op, dtype) = (self.op.name(), self.x.dtype());
        let (shape, strides) = (self.x.shape(), self.x.strides());
        write!(
            f,
            "{op} {dtype} {shape:?} {strides:?} along {:?} {}",
            self.dims, self.note
        )
    }
}

pub const REDUCTIONS: [Op; 13] = [
    Op::Sum,
    Op::Mean,
    Op::Prod,
    Op::Amax,
    Op::Amin,
    Op::Any,
    Op::All,
    Op::Var,
    Op::Std,
    Op::Logsumexp,
    Op::Nansum,
    Op::Nanmean,
    Op::CountNonzero,
];

pub const DEGREES: [f64; 6] = [2.0, 0.0, 1.0, f64::INFINITY, f64::NEG_INFINITY, 3.0];

/// The dtypes in which the common code paths are tested.
pub const COMMON: [DType; 5] = [DType::F32, DType::BF16, DType::F64, DType::I32, DType::C64];

pub fn takes(op: Op, dtype: DType) -> bool {
    op.row().dtypes.contains(dtype)
}

/// Compares reductions. Products and squares of long lines overflow 16-bit floats, which are tested
/// with short lines.
pub fn reductions(to: &mut Compared, x: &Twins, dims: &[usize], note: &str, ops: &[Op]) {
    let dtype = x.host.dtype();
    for &op in ops.iter().filter(|&&op| takes(op, dtype)) {
        let case = Case {
            op,
            x: &x.host,
            dims,
            note,
        };
        to.call(&case, dtype, x, |x| {
            let found = reduce(op, x, dims, false, ReduceOptions::default())?;
            // The complex logarithm has many branches.
            if op == Op::Logsumexp && dtype.is_complex() {
                let arg = [nomina_runtime::call::Arg::Tensor(&found)];
                return Ok(vec![nomina_runtime::call::pointwise(Op::Exp, &arg)?]);
            }
            Ok(vec![found])
        });
    }
}

pub fn norms(to: &mut Compared, x: &Twins, dims: &[usize], note: &str) {
    let dtype = x.host.dtype();
    if !takes(Op::Norm, dtype) {
        return;
    }
    for p in DEGREES {
        let options = ReduceOptions {
            p,
            ..ReduceOptions::default()
        };
        let case = Case {
            op: Op::Norm,
            x: &x.host,
            dims,
            note,
        };
        to.call(&format_args!("{case} of degree {p}"), dtype, x, |x| {
            Ok(vec![reduce(Op::Norm, x, dims, true, options)?])
        });
    }
}

pub fn positions(to: &mut Compared, x: &Twins, note: &str) {
    let dtype = x.host.dtype();
    if !takes(Op::Argmax, dtype) {
        return;
    }
    for dim in 0..x.host.rank() {
        for op in [Op::Max, Op::Min] {
            let case = Case {
                op,
                x: &x.host,
                dims: &[dim],
                note,
            };
            to.call(&case, dtype, x, |x| {
                let (values, positions) = arg_reduce(op, x, dim, false)?;
                Ok(vec![values, positions])
            });
        }
    }
    for op in [Op::Argmax, Op::Argmin] {
        let case = Case {
            op,
            x: &x.host,
            dims: &[],
            note,
        };
        to.call(&case, dtype, x, |x| {
            Ok(vec![arg_position(op, x, None, false)?])
        });
    }
}

pub fn lines(to: &mut Compared, x: &Twins, note: &str) {
    let dtype = x.host.dtype();
    for dim in 0..x.host.rank() {
        for op in [Op::Softmax, Op::LogSoftmax] {
            if takes(op, dtype) {
                let case = Case {
                    op,
                    x: &x.host,
                    dims: &[dim],
                    note,
                };
                to.call(&case, dtype, x, |x| Ok(vec![softmax(op, x, dim, None)?]));
            }
        }
        for op in [Op::Cumsum, Op::Cumprod, Op::Logcumsumexp] {
            if takes(op, dtype) {
                let case = Case {
                    op,
                    x: &x.host,
                    dims: &[dim],
                    note,
                };
                to.call(&case, dtype, x, |x| {
                    let found = scan(op, x, dim, None)?;
                    // The host computes a long line in chunks, each of which restarts the branch of
                    // the logarithm.
                    if op == Op::Logcumsumexp && dtype.is_complex() {
                        let arg = [nomina_runtime::call::Arg::Tensor(&found)];
                        return Ok(vec![nomina_runtime::call::pointwise(Op::Exp, &arg)?]);
                    }
                    Ok(vec![found])
                });
            }
        }
    }
}

pub fn normalized(to: &mut Compared, x: &Twins, dims: &[usize], note: &str) {
    let dtype = x.host.dtype();
    if !takes(Op::LayerNorm, dtype) {
        return;
    }
    // One scale per index along the rows; one shift per row or, for a single row, per element.
    let rank = x.host.rank();
    let size = |along: bool| -> Vec<usize> {
        let size = |dim| {
            if dims.contains(&dim) == along {
                x.host.shape()[dim]
            } else {
                1
            }
        };
        (0..rank).map(size).collect()
    };
    let (weight, bias) = (
        sample(&size(true), dtype, 5),
        sample(&size(false), dtype, 6),
    );
    for rms in [false, true] {
        for affine in [false, true] {
            let case = Case {
                op: Op::LayerNorm,
                x: &x.host,
                dims,
                note,
            };
            let call = |x: &Raw, weight: &Raw, bias: &Raw| {
                let affine = if affine {
                    Affine {
                        weight: Some(weight),
                        bias: Some(bias),
                    }
                } else {
                    Affine::default()
                };
                let (out, stats) = normalize(Op::LayerNorm, x, dims, (rms, 1e-5), affine, !rms)?;
                Ok([Some(out), stats].into_iter().flatten().collect())
            };
            let host = call(&x.host, &weight.host, &bias.host);
            let there = call(&x.there, &weight.there, &bias.there);
            to.results(
                &format_args!("{case} rms {rms} affine {affine}"),
                (dtype, x.host.numel()),
                host,
                there,
            );
        }
    }
}

pub fn entropies(to: &mut Compared, x: &Twins, dim: usize) {
    let dtype = x.host.dtype();
    let mut kept = x.host.shape().to_vec();
    let classes = kept.remove(dim);
    let rows: usize = kept.iter().product();
    let class = |i: usize| {
        if i % 5 == 3 {
            -100
        } else {
            (i * 7 % classes) as i64
        }
    };
    let target = Twins::new(Raw::from_vec((0..rows).map(class).collect(), &kept).unwrap());
    let weight = sample(&[classes], dtype, 9);
    for (logits, weighted, smoothing) in [
        (true, false, 0.0),
        (true, true, 0.1),
        (false, true, 0.0),
        (false, false, 0.25),
    ] {
        let case = Case {
            op: Op::CrossEntropy,
            x: &x.host,
            dims: &[dim],
            note: "",
        };
        let call = |x: &Raw, target: &Raw, weight: &Raw| {
            let options = Entropy {
                logits,
                weight: weighted.then_some(weight),
                ignore_index: -100,
                smoothing,
            };
            let told = [Losses::Each, Losses::Sum, Losses::Mean];
            let of = |losses| entropy(Op::CrossEntropy, x, target, dim, options, losses);
            told.into_iter().map(of).collect()
        };
        let host = call(&x.host, &target.host, &weight.host);
        let there = call(&x.there, &target.there, &weight.there);
        let what = format_args!("{case} logits {logits} weights {weighted} smoothing {smoothing}");
        to.results(&what, (dtype, x.host.numel()), host, there);
    }
}
