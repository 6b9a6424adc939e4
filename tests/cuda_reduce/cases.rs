//! What is compared.

use std::fmt;

use nomina_core::DType;
use nomina_core::op::Op;
use nomina_runtime::Raw;
use nomina_runtime::call::{
    Affine, Entropy, ReduceOptions, arg_position, arg_reduce, entropy, normalize, reduce, scan,
    softmax,
};

use super::compare::{Compared, Twins, noise, sample};

/// What a case is, for errors.
struct Case<'a> {
    op: Op,
    x: &'a Raw,
    dims: &'a [usize],
    note: &'a str,
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

const REDUCTIONS: [Op; 13] = [
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

const DEGREES: [f64; 6] = [2.0, 0.0, 1.0, f64::INFINITY, f64::NEG_INFINITY, 3.0];

/// Those in which the common walks are gone through.
const COMMON: [DType; 5] = [DType::F32, DType::BF16, DType::F64, DType::I32, DType::C64];

fn takes(op: Op, dtype: DType) -> bool {
    op.row().dtypes.contains(dtype)
}

/// Products and squares of long lines leave the range of 16 bits; those are looked at in short ones.
fn reductions(to: &mut Compared, x: &Twins, dims: &[usize], note: &str, ops: &[Op]) {
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
            // Of a logarithm of a complex number there are many.
            if op == Op::Logsumexp && dtype.is_complex() {
                let arg = [nomina_runtime::call::Arg::Tensor(&found)];
                return Ok(vec![nomina_runtime::call::pointwise(Op::Exp, &arg)?]);
            }
            Ok(vec![found])
        });
    }
}

fn norms(to: &mut Compared, x: &Twins, dims: &[usize], note: &str) {
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

fn positions(to: &mut Compared, x: &Twins, note: &str) {
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

fn lines(to: &mut Compared, x: &Twins, note: &str) {
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
                    // The host's chunks of a long line each begin their turns anew.
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

fn normalized(to: &mut Compared, x: &Twins, dims: &[usize], note: &str) {
    let dtype = x.host.dtype();
    if !takes(Op::LayerNorm, dtype) {
        return;
    }
    // One scale for each index along the rows, one shift for each row or, of one row, element.
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
                let affine = match affine {
                    true => Affine {
                        weight: Some(weight),
                        bias: Some(bias),
                    },
                    false => Affine::default(),
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

fn entropies(to: &mut Compared, x: &Twins, dim: usize) {
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
            let (losses, sums) = entropy(Op::CrossEntropy, x, target, dim, options)?;
            Ok(vec![losses, Raw::from_vec(sums.to_vec(), &[2])?])
        };
        let host = call(&x.host, &target.host, &weight.host);
        let there = call(&x.there, &target.there, &weight.there);
        let what = format_args!("{case} logits {logits} weights {weighted} smoothing {smoothing}");
        to.results(&what, (dtype, x.host.numel()), host, there);
    }
}

/// The same elements otherwise: reversed dims, gaps, backwards, from the second on, one for many.
fn layouts(x: &Twins) -> Vec<(&'static str, Twins)> {
    let rank = x.host.rank();
    let reversed: Vec<usize> = (0..rank).rev().collect();
    let mut wide = x.host.shape().to_vec();
    wide.insert(1, 3);
    vec![
        ("permuted", x.view(|x| x.permute(&reversed).unwrap())),
        (
            "gaps",
            x.view(|x| {
                x.slice(rank - 1, 0, x.shape()[rank - 1].div_ceil(2), 2)
                    .unwrap()
            }),
        ),
        (
            "backwards",
            x.view(|x| x.flip(rank - 1).unwrap().flip(0).unwrap()),
        ),
        (
            "cut",
            x.view(|x| x.narrow(rank - 1, 1, x.shape()[rank - 1] - 1).unwrap()),
        ),
        (
            "expanded",
            x.view(|x| x.unsqueeze(1).unwrap().expand(&wide).unwrap()),
        ),
    ]
}

fn subsets(rank: usize) -> Vec<Vec<usize>> {
    let of = |mask: usize| (0..rank).filter(|dim| mask >> dim & 1 == 1).collect();
    (0..1 << rank).map(of).collect()
}

pub fn every_operator_and_dtype(to: &mut Compared) {
    for dtype in DType::ALL {
        let x = sample(&[5, 33, 40], dtype, 3);
        for dims in [&[2][..], &[0], &[0, 1, 2]] {
            // Products of so many leave every range but the integers', which wrap.
            reductions(to, &x, dims, "", &REDUCTIONS);
            norms(to, &x, dims, "");
        }
        positions(to, &x, "");
        lines(to, &sample(&[5, 9, 40], dtype, 4), "");
        normalized(to, &x, &[2], "");
        normalized(to, &x, &[0, 1], "");
        if takes(Op::CrossEntropy, dtype) {
            entropies(to, &x, 2);
            entropies(to, &x, 1);
        }
    }
}

pub fn every_length(to: &mut Compared) {
    const OPS: [Op; 4] = [Op::Sum, Op::Amax, Op::Var, Op::Logsumexp];
    for dtype in COMMON {
        for len in [1, 31, 32, 33, 256, 1000, 1001, 5000] {
            for shape in [[7, len], [len, 7], [len, 36]] {
                let x = sample(&shape, dtype, len as u64);
                for dim in [0, 1] {
                    reductions(to, &x, &[dim], "", &OPS);
                    if dim < 2 && shape[1] != 36 {
                        normalized(to, &x, &[dim], "");
                    }
                }
                positions(to, &x, "");
                lines(to, &x, "");
            }
        }
        if takes(Op::Softmax, dtype) {
            // Too long to be held in registers.
            for shape in [[2, 20_000], [2, 20_001]] {
                let x = sample(&shape, dtype, 2);
                lines(to, &x, "");
                normalized(to, &x, &[1], "");
                entropies(to, &x, 1);
            }
        }
    }
}

pub fn every_layout(to: &mut Compared) {
    const OPS: [Op; 4] = [Op::Sum, Op::Amin, Op::Std, Op::Logsumexp];
    for dtype in COMMON {
        let base = sample(&[6, 5, 48], dtype, 8);
        let mut all = layouts(&base);
        all.push(("as it is", base));
        for (note, x) in &all {
            for dims in subsets(x.host.rank()) {
                reductions(to, x, &dims, note, &OPS);
                if !dims.is_empty() {
                    normalized(to, x, &dims, note);
                }
            }
            positions(to, x, note);
            lines(to, x, note);
            if takes(Op::CrossEntropy, dtype) {
                (0..x.host.rank()).for_each(|dim| entropies(to, x, dim));
            }
        }
    }
}

/// Few results of many elements each, which are cut into chunks.
pub fn few_results(to: &mut Compared) {
    const OPS: [Op; 6] = [
        Op::Sum,
        Op::Mean,
        Op::Amax,
        Op::Var,
        Op::Logsumexp,
        Op::CountNonzero,
    ];
    for dtype in [DType::F32, DType::BF16, DType::I64] {
        for shape in [[1, 300_000], [3, 100_001], [100_000, 3], [40_000, 8]] {
            let x = sample(&shape, dtype, 12);
            for dims in [&[0][..], &[1], &[0, 1]] {
                reductions(to, &x, dims, "", &OPS);
            }
            positions(to, &x, "");
            let long = usize::from(shape[1] > shape[0]);
            normalized(to, &x, &[long], "");
            for op in [Op::Softmax, Op::LogSoftmax] {
                if takes(op, dtype) {
                    let case = Case {
                        op,
                        x: &x.host,
                        dims: &[long],
                        note: "",
                    };
                    to.call(&case, dtype, &x, |x| Ok(vec![softmax(op, x, long, None)?]));
                }
            }
            for op in [Op::Cumsum, Op::Logcumsumexp] {
                if takes(op, dtype) {
                    let case = Case {
                        op,
                        x: &x.host,
                        dims: &[long],
                        note: "",
                    };
                    to.call(&case, dtype, &x, |x| Ok(vec![scan(op, x, long, None)?]));
                }
            }
        }
    }
}

pub fn specials(to: &mut Compared) {
    const OPS: [Op; 7] = [
        Op::Sum,
        Op::Amax,
        Op::Amin,
        Op::Var,
        Op::Logsumexp,
        Op::Nansum,
        Op::Nanmean,
    ];
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    for dtype in [DType::F32, DType::F64, DType::F16] {
        let mut data = noise(9 * 70, 21);
        for (row, at, value) in [
            (0, 3, nan),
            (1, 69, inf),
            (2, 0, -inf),
            (3, 5, inf),
            (3, 6, -inf),
            (4, 0, nan),
            (4, 60, nan),
            (5, 64, inf),
            (5, 2, nan),
        ] {
            data[row * 70 + at] = value;
        }
        data[6 * 70..7 * 70].fill(-inf);
        data[7 * 70..8 * 70].fill(nan);
        data[8 * 70..].fill(2.5);
        let raw = Raw::from_vec(data, &[9, 70]).unwrap();
        let x = Twins::new(nomina_runtime::call::to_dtype(&raw, dtype).unwrap());
        for x in [&x, &x.view(|x| x.permute(&[1, 0]).unwrap())] {
            for dims in [&[0][..], &[1], &[0, 1]] {
                reductions(to, x, dims, "with NaN", &OPS);
                norms(to, x, dims, "with NaN");
            }
            positions(to, x, "with NaN");
            lines(to, x, "with NaN");
            normalized(to, x, &[0], "with NaN");
            entropies(to, x, 1);
        }
    }
}

pub fn nothing(to: &mut Compared) {
    for dtype in [
        DType::F32,
        DType::BF16,
        DType::I64,
        DType::Bool,
        DType::C128,
    ] {
        for shape in [[0, 5], [5, 0], [0, 0]] {
            let x = sample(&shape, dtype, 1);
            for dims in subsets(2) {
                reductions(to, &x, &dims, "", &REDUCTIONS);
                norms(to, &x, &dims, "");
            }
            positions(to, &x, "");
            lines(to, &x, "");
        }
        // One number, and none of the dims.
        let x = sample(&[], dtype, 1);
        reductions(to, &x, &[], "", &REDUCTIONS);
        positions(to, &x, "");
        lines(to, &x, "");
    }
}

/// Results in another dtype than the operand's.
pub fn other_dtypes(to: &mut Compared) {
    for (from, into) in [
        (DType::F32, DType::F64),
        (DType::U8, DType::F32),
        (DType::I32, DType::I16),
        (DType::BF16, DType::F32),
        (DType::F32, DType::C64),
        (DType::F64, DType::Bool),
    ] {
        let x = sample(&[4, 65], from, 7);
        let options = ReduceOptions {
            dtype: Some(into),
            ..ReduceOptions::default()
        };
        for op in [Op::Sum, Op::Prod] {
            let case = Case {
                op,
                x: &x.host,
                dims: &[1],
                note: "",
            };
            to.call(&format_args!("{case} as {into}"), from, &x, |x| {
                Ok(vec![reduce(op, x, &[1], false, options)?])
            });
        }
        for op in [Op::Cumsum, Op::Softmax] {
            let case = Case {
                op,
                x: &x.host,
                dims: &[1],
                note: "",
            };
            to.call(&format_args!("{case} as {into}"), from, &x, |x| {
                Ok(vec![match op {
                    Op::Softmax => softmax(op, x, 1, Some(into))?,
                    _ => scan(op, x, 1, Some(into))?,
                }])
            });
        }
    }
}
