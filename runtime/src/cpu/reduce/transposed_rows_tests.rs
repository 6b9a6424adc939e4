//! Tests short rows against plain loops in the documented order: elements are combined one tile row
//! after the other, four at a time.

use nomina_core::op::Op;
use nomina_core::{DType, Scalar};

use super::tests::sample;
use crate::call::{ReduceOptions, arg_position, arg_reduce, reduce, to_dtype};
use crate::raw::Raw;

fn bits(x: &Raw) -> Vec<String> {
    x.scalars().map(|x| format!("{x:?}")).collect()
}

fn of(op: Op, x: &Raw, dims: &[usize]) -> Raw {
    reduce(op, x, dims, false, ReduceOptions::default()).unwrap()
}

/// Folds a few `f32` in the order in which the kernel combines them.
fn fold(xs: &[f32], start: f32, f: fn(f32, f32) -> f32) -> f32 {
    let (fours, rest) = xs.as_chunks::<4>();
    let all = fours
        .iter()
        .fold(start, |all, &[a, b, c, d]| f(all, f(f(a, b), f(c, d))));
    rest.iter().fold(all, |all, &x| f(all, x))
}

fn widths() -> &'static [usize] {
    if cfg!(miri) {
        &[1, 2, 3]
    } else {
        &[
            1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 24, 32, 33, 63, 64, 65,
        ]
    }
}

fn heights() -> &'static [usize] {
    if cfg!(miri) {
        &[3, 33]
    } else {
        &[1, 2, 15, 16, 17, 33, 64, 65, 255, 256, 300, 1000]
    }
}

#[test]
fn sums_and_products_are_combined_in_the_order_of_rows() {
    for &width in widths().iter().filter(|&&width| width <= 64) {
        for &height in heights() {
            let x = sample(&[height, width], DType::F32, 9);
            let all = x.to_vec::<f32>().unwrap();
            let sum = of(Op::Sum, &x, &[1]).to_vec::<f32>().unwrap();
            let product = of(Op::Prod, &x, &[1]).to_vec::<f32>().unwrap();
            for (row, xs) in all.chunks_exact(width).enumerate() {
                let want = [fold(xs, 0.0, |a, b| a + b), fold(xs, 1.0, |a, b| a * b)];
                let got = [sum[row], product[row]];
                assert_eq!(
                    got.map(f32::to_bits),
                    want.map(f32::to_bits),
                    "row {row} of {height} of {width}"
                );
            }
        }
    }
}

/// Tests every reduction of few and of many rows, for all dtypes it supports.
#[test]
fn a_row_gives_the_same_among_few_as_among_many() {
    let ops = [
        Op::Sum,
        Op::Mean,
        Op::Prod,
        Op::Amax,
        Op::Amin,
        Op::Var,
        Op::Std,
        Op::Logsumexp,
        Op::Nansum,
        Op::Nanmean,
        Op::Norm,
        Op::CountNonzero,
        Op::Any,
        Op::All,
    ];
    let dtypes = [
        DType::Bool,
        DType::I8,
        DType::I16,
        DType::I64,
        DType::BF16,
        DType::F32,
        DType::F64,
        DType::C64,
        DType::C128,
    ];
    let many = if cfg!(miri) { 40 } else { 310 };
    for &width in widths() {
        for dtype in dtypes {
            let x = sample(&[many, width], dtype, 4);
            for op in ops
                .into_iter()
                .filter(|op| op.row().check_dtype(dtype).is_ok())
            {
                let all = of(op, &x, &[1]);
                for (from, n) in [(0, 1), (7, 3), (11, 20), (many - 1, 1)] {
                    let few = of(op, &x.slice(0, from, n, 1).unwrap(), &[1]);
                    let same = all.slice(0, from, n, 1).unwrap();
                    assert_eq!(bits(&few), bits(&same), "{op:?} of {dtype}, {width} wide");
                }
            }
            if dtype.is_complex() {
                continue;
            }
            for op in [Op::Argmax, Op::Argmin] {
                let all = arg_position(op, &x, Some(1), false).unwrap();
                let few = x.slice(0, 5, 3, 1).unwrap();
                let few = arg_position(op, &few, Some(1), false).unwrap();
                assert_eq!(bits(&few), bits(&all.slice(0, 5, 3, 1).unwrap()));
            }
        }
    }
}

/// Returns the same elements with other strides: reversed rows, gaps between rows, rows as columns.
fn others(x: &Raw) -> Vec<Raw> {
    let wide = Raw::zeros(
        "zeros",
        &[x.shape()[0], x.shape()[1] + 3],
        x.dtype(),
        x.device(),
    );
    let mut wide = wide.unwrap();
    let width = x.shape()[1];
    crate::call::copy_into(wide.as_mut().unwrap().narrow(1, 1, width).unwrap(), x).unwrap();
    let turned = crate::call::contiguous(&x.transpose(0, 1).unwrap()).unwrap();
    let flipped = crate::call::contiguous(&x.flip(0).unwrap()).unwrap();
    vec![
        wide.narrow(1, 1, width).unwrap(),
        turned.transpose(0, 1).unwrap(),
        flipped.flip(0).unwrap(),
    ]
}

#[test]
fn layouts_agree_where_the_order_cannot_matter() {
    for &width in widths() {
        for dtype in [DType::I32, DType::F32, DType::F64] {
            let x = to_dtype(&sample(&[300, width], DType::I32, 6), dtype).unwrap();
            for other in others(&x) {
                for op in [Op::Sum, Op::Amax, Op::CountNonzero] {
                    let (a, b) = (of(op, &x, &[1]), of(op, &other, &[1]));
                    assert_eq!(bits(&a), bits(&b), "{op:?} of {dtype}, {width} wide");
                }
                let [a, b] = [&x, &other].map(|x| arg_reduce(Op::Min, x, 1, true).unwrap());
                assert_eq!((bits(&a.0), bits(&a.1)), (bits(&b.0), bits(&b.1)));
            }
        }
    }
}

#[test]
fn several_outputs_in_a_row() {
    // The reduced dims are in the middle, on both sides of a kept one, or several.
    let shapes: [(&[usize], &[usize]); 9] = [
        (&[300, 2, 2], &[1]),
        (&[300, 3, 5], &[1]),
        (&[70, 8, 16], &[1]),
        (&[70, 5, 64], &[1]),
        (&[90, 64, 3], &[1]),
        (&[130, 2, 3, 4], &[1, 3]),
        (&[40, 2, 3, 2, 3], &[1, 3]),
        (&[7, 33, 4], &[0, 2]),
        (&[20, 3, 33, 4], &[1, 3]),
    ];
    let shapes = if cfg!(miri) {
        &shapes[..1]
    } else {
        &shapes[..]
    };
    for &(shape, dims) in shapes {
        for dtype in [DType::I32, DType::F32, DType::F64] {
            let x = to_dtype(&sample(shape, DType::I32, 2), dtype).unwrap();
            // Compares with a reduction of one dim after moving kept dims first and reduced dims
            // last.
            let mut order: Vec<usize> =
                (0..shape.len()).filter(|dim| !dims.contains(dim)).collect();
            let kept: usize = order.iter().map(|&dim| shape[dim]).product();
            order.extend(dims);
            let plain = crate::call::contiguous(&x.permute(&order).unwrap()).unwrap();
            let plain = plain.view(&[kept, x.numel() / kept]).unwrap().unwrap();
            let ops = [Op::Sum, Op::Amin, Op::CountNonzero, Op::Var];
            for op in ops
                .into_iter()
                .filter(|op| op.row().check_dtype(dtype).is_ok())
            {
                let (got, want) = (of(op, &x, dims), of(op, &plain, &[1]));
                for (got, want) in got.scalars().zip(want.scalars()) {
                    let (got, want) = (got.to_f64(), want.to_f64());
                    let near = (got - want).abs() <= 1e-5 * want.abs();
                    assert!(
                        near,
                        "{op:?} of {dtype} {shape:?} over {dims:?}: {got}, not {want}"
                    );
                }
            }
        }
    }
}

#[test]
fn what_is_not_a_number_keeps_to_its_row() {
    let (inf, nan) = (f32::INFINITY, f32::NAN);
    for &width in widths().iter().filter(|&&width| width >= 2) {
        let mut data = vec![1.0_f32; 300 * width];
        let rows: [&[f32]; 5] = [
            &[nan, 2.0],
            &[inf, 0.0],
            &[-inf, inf],
            &[2.0, 2.0],
            &[-0.0, 0.0],
        ];
        for row in 0..300 {
            data[row * width..][..2].copy_from_slice(rows[row % 5]);
        }
        let x = Raw::from_vec(data, &[300, width]).unwrap();
        let one = |op| {
            of(op, &x, &[1])
                .scalars()
                .map(Scalar::to_f64)
                .collect::<Vec<_>>()
        };
        let [sums, tops, logs] = [Op::Sum, Op::Amax, Op::Logsumexp].map(one);
        let [vars, plain] = [Op::Var, Op::Nansum].map(one);
        let at = arg_position(Op::Argmax, &x, Some(1), false).unwrap();
        let at = at.to_vec::<i64>().unwrap();
        let rest = (width - 2) as f64;
        for row in 0..300 {
            let got = [sums[row], tops[row], plain[row]];
            match row % 5 {
                0 => {
                    assert!(got[0].is_nan() && got[1].is_nan() && got[2] == 2.0 + rest);
                    assert!(logs[row].is_nan() && vars[row].is_nan() && at[row] == 0);
                }
                1 => assert!(got == [f64::INFINITY; 3] && logs[row] == f64::INFINITY),
                2 => assert!(got[0].is_nan() && got[1] == f64::INFINITY && at[row] == 1),
                // The first of equal elements.
                3 => assert!(got == [4.0 + rest, 2.0, 4.0 + rest] && at[row] == 0),
                _ => assert!(got[0] == rest && at[row] == if width > 2 { 2 } else { 0 }),
            }
        }
    }
}
