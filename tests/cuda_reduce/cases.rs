//! The compared cases: calls and operands.

use nomina_core::DType;
use nomina_core::op::Op;
use nomina_runtime::Raw;
use nomina_runtime::call::{ReduceOptions, reduce, scan, softmax};

use super::calls::*;
use super::compare::{Compared, Twins, noise, sample};
use super::sample::some;

/// Returns the elements in other layouts: reversed dims, gaps, backwards, an offset, broadcast.
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
    for dtype in some(DType::ALL) {
        let x = sample(&[5, 33, 40], dtype, 3);
        for dims in [&[2][..], &[0], &[0, 1, 2]] {
            // Products of that many elements overflow all dtypes but integers, which wrap.
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
    for dtype in some(COMMON) {
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
            // Too long for registers.
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
    for dtype in some(COMMON) {
        let base = sample(&[6, 5, 48], dtype, 8);
        let mut all = layouts(&base);
        all.push(("as it is", base));
        all.push(("pairs", sample(&[37, 9, 2], dtype, 9)));
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

/// Few results of many elements each, which are split into chunks.
pub fn few_results(to: &mut Compared) {
    const OPS: [Op; 6] = [
        Op::Sum,
        Op::Mean,
        Op::Amax,
        Op::Var,
        Op::Logsumexp,
        Op::CountNonzero,
    ];
    for dtype in some([DType::F32, DType::BF16, DType::I64]) {
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
    for dtype in some([DType::F32, DType::F64, DType::F16]) {
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
    for dtype in some([
        DType::F32,
        DType::BF16,
        DType::I64,
        DType::Bool,
        DType::C128,
    ]) {
        for shape in [[0, 5], [5, 0], [0, 0]] {
            let x = sample(&shape, dtype, 1);
            for dims in subsets(2) {
                reductions(to, &x, &dims, "", &REDUCTIONS);
                norms(to, &x, &dims, "");
            }
            positions(to, &x, "");
            lines(to, &x, "");
        }
        // A scalar, reduced over no dims.
        let x = sample(&[], dtype, 1);
        reductions(to, &x, &[], "", &REDUCTIONS);
        positions(to, &x, "");
        lines(to, &x, "");
    }
}

/// Results in a dtype other than the operand's.
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
