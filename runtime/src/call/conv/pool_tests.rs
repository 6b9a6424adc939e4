//! Pools, against the definition.

use nomina_core::DType;
use nomina_core::op::Op;

use super::tests::{numbers, same};
use super::*;
use crate::call::to_dtype;

#[test]
fn pools_of_any_width_are_the_definition() {
    let size = |size: usize, [kernel, stride, padding]: [usize; 3]| {
        (size + 2 * padding - kernel) / stride + 1
    };
    for width in [1, 2, 5, 15, 16, 17, 31, 33, 50, 70] {
        let x = numbers(&[3, 7, width], width);
        for column in [
            [1, 1, 0],
            [2, 2, 0],
            [3, 1, 1],
            [3, 2, 1],
            [2, 3, 1],
            [4, 4, 2],
            [5, 4, 0],
        ] {
            let row = [3, 2, 1];
            if width + 2 * column[2] < column[0] {
                continue;
            }
            let [kernel, stride, padding] = [0, 1, 2].map(|i| [row[i], column[i]]);
            let max = MaxArgs {
                kernel: &kernel,
                stride: &stride,
                padding: &padding,
                dilation: &[1, 1],
                ceil_mode: false,
            };
            let mean = |all| AvgArgs {
                kernel: &kernel,
                stride: &stride,
                padding: &padding,
                ceil_mode: false,
                count_include_pad: all,
                divisor_override: None,
            };
            let [out_h, out_w] = [size(7, row), size(width, column)];
            let mut wants = [const { Vec::new() }; 3];
            for (c, (oy, ox)) in
                (0..3).flat_map(|c| (0..out_h * out_w).map(move |at| (c, (at / out_w, at % out_w))))
            {
                let mut seen = Vec::new();
                for (ky, kx) in (0..row[0]).flat_map(|y| (0..column[0]).map(move |x| (y, x))) {
                    let y = (oy * row[1] + ky).checked_sub(row[2]).filter(|&y| y < 7);
                    let x_at = (ox * column[1] + kx).checked_sub(column[2]);
                    if let Some((y, at)) = y.zip(x_at.filter(|&at| at < width)) {
                        seen.push(x.get::<f32>(&[c, y, at]).unwrap());
                    }
                }
                let sum = seen.iter().map(|&x| f64::from(x)).sum::<f64>();
                wants[0].push(seen.iter().copied().fold(f32::NEG_INFINITY, f32::max));
                wants[1].push((sum / seen.len().max(1) as f64) as f32);
                wants[2].push((sum / (row[0] * column[0]) as f64) as f32);
            }
            let shape = [3, out_h, out_w];
            let [greatest, own, all] = wants.map(|want| Raw::from_vec(want, &shape).unwrap());
            let (got, _) = max_pool(Op::MaxPool2d, &x, &[1, 2], &max, false).unwrap();
            same(&got, &greatest);
            for (all, want) in [(false, &own), (true, &all)] {
                same(
                    &avg_pool(Op::AvgPool2d, &x, &[1, 2], &mean(all)).unwrap(),
                    want,
                );
            }
            for dtype in [DType::F64, DType::I64] {
                let x = to_dtype(&x, dtype).unwrap();
                let (got, _) = max_pool(Op::MaxPool2d, &x, &[1, 2], &max, false).unwrap();
                same(&got, &greatest);
            }
        }
    }
    // NaN wins, also over the padding.
    let x = Raw::from_vec(vec![1.0, f32::NAN, -2.0, f32::NEG_INFINITY], &[1, 1, 4]).unwrap();
    let max = MaxArgs {
        kernel: &[1, 2],
        stride: &[1, 1],
        padding: &[0, 1],
        dilation: &[1, 1],
        ceil_mode: false,
    };
    let (got, _) = max_pool(Op::MaxPool2d, &x, &[1, 2], &max, false).unwrap();
    let got = got.to_vec::<f32>().unwrap();
    assert!(got[1].is_nan() && got[2].is_nan());
    assert_eq!([got[0], got[3], got[4]], [1.0, -2.0, f32::NEG_INFINITY]);
}

#[test]
fn pools_of_many_rows() {
    let x = numbers(&[3, 70, 90], 1);
    let ones = [1, 1];
    let args = MaxArgs {
        kernel: &[3, 2],
        stride: &[2, 3],
        padding: &[1, 0],
        dilation: &ones,
        ceil_mode: false,
    };
    let (values, places) = max_pool(Op::MaxPool2d, &x, &[1, 2], &args, true).unwrap();
    let (alone, _) = max_pool(Op::MaxPool2d, &x, &[1, 2], &args, false).unwrap();
    same(&values, &alone);
    let places = places.unwrap().to_vec::<i64>().unwrap();
    let plane = values.numel() / 3;
    for (at, (value, &place)) in values.iter::<f32>().unwrap().zip(&places).enumerate() {
        let (c, place) = (at / plane, place as usize);
        assert_eq!(x.get::<f32>(&[c, place / 90, place % 90]).unwrap(), value);
    }
    let back = max_unpool(
        Op::MaxUnpool2d,
        &values,
        &Raw::from_vec(places, values.shape()).unwrap(),
        &[1, 2],
        &[70, 90],
    );
    assert_eq!(back.unwrap().shape(), x.shape());
}
