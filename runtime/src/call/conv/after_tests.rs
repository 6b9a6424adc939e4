//! Operations that follow a convolution, and prepared weights.

use nomina_core::op::Op;

use super::tests::{SITES, numbers, same, slow};
use super::*;
use crate::call::{Activation, Arg, FinalOp, pointwise};

#[test]
fn an_operator_follows_a_convolution() {
    // Few positions, tiles with several threads, points, single channels, windows of few elements in several groups of lines,
    // and channels innermost.
    let cases = [
        ([1, 70, 1, 4], [72, 70, 1, 3], 1),
        ([2, 12, 5, 3], [50, 6, 5, 2], 2),
        ([1, 24, 30, 47], [40, 24, 3, 3], 1),
        ([2, 9, 6, 7], [20, 9, 1, 1], 1),
        ([2, 8, 11, 13], [8, 1, 3, 3], 8),
        ([1, 3, 31, 47], [25, 3, 3, 3], 1),
        // Sums of nothing.
        ([1, 0, 5, 4], [3, 0, 3, 3], 1),
        ([1, 0, 5, 4], [3, 0, 1, 1], 1),
    ];
    for (x, w, groups) in cases {
        let (x, w, bias) = (numbers(&x, 1), numbers(&w, 2), numbers(&[w[0]], 3));
        let args = ConvArgs {
            stride: &[1, 1],
            padding: Some(&[0, 1]),
            dilation: &[1, 1],
            groups,
        };
        let prepared = PreparedWeight::new(w.clone());
        let last = crate::call::contiguous(&x.permute(&[0, 2, 3, 1]).unwrap()).unwrap();
        for x in [x, last.permute(&[0, 3, 1, 2]).unwrap()] {
            let want = slow(&x, &w, &args);
            let bias4 = bias.reshape(&[1, bias.numel(), 1, 1]).unwrap();
            let want = pointwise(Op::Add, &[Arg::Tensor(&want), Arg::Tensor(&bias4)]).unwrap();
            let plus = numbers(want.shape(), 4);
            let sum = pointwise(Op::Add, &[Arg::Tensor(&want), Arg::Tensor(&plus)]).unwrap();
            for op in [None, Some(FinalOp::from(Activation::Relu))] {
                let relu = || pointwise(Op::Relu, &[Arg::Tensor(&sum)]).unwrap();
                let want = op.map_or_else(|| sum.clone(), |_| relu());
                let (weight, plus) = (ConvWeight::Prepared(&prepared), Some(&plus));
                let after = ConvAfter { plus, op };
                let bias = Some(&bias);
                let got = conv_then(Op::Conv2d, &x, weight, bias, &SITES, &args, after);
                same(&got.unwrap(), &want);
            }
            for (after, op, number) in [
                (FinalOp::from(Activation::Relu), Op::Relu, None),
                (FinalOp::leaky_relu(0.5), Op::LeakyRelu, Some(0.5)),
                (FinalOp::hard_swish(), Op::Hardswish, None),
            ] {
                let number = number.map(|n: f64| Arg::Scalar(n.into()));
                let operands: Vec<_> = [Arg::Tensor(&want)].into_iter().chain(number).collect();
                let want = pointwise(op, &operands).unwrap();
                let bias = Some(&bias);
                for weight in [ConvWeight::Once(&w), ConvWeight::Prepared(&prepared)] {
                    let after = ConvAfter {
                        plus: None,
                        op: Some(after),
                    };
                    let got = conv_then(Op::Conv2d, &x, weight, bias, &SITES, &args, after);
                    same(&got.unwrap(), &want);
                }
            }
        }
    }
}

#[test]
fn relu_keeps_nan_and_the_sign_of_zero() {
    let op = Some(FinalOp::from(Activation::Relu));
    // Points, windows that are read in place or packed, and few outputs; fused sums of small products are zeros
    // with a sign.
    for (channels, outs, kernel) in [(40, 60, 1), (24, 40, 3), (3, 20, 3), (20, 5, 3)] {
        let sizes = [1, channels, 9, 40];
        let mut x: Vec<f32> = (0..channels * 360)
            .map(|i| [-1e-30, 1e-30][i % 2])
            .collect();
        (x[17], x[45]) = (f32::NAN, -2.0);
        let x = Raw::from_vec(x, &sizes).unwrap();
        let w = vec![1e-30_f32; outs * channels * kernel * kernel];
        let w = Raw::from_vec(w, &[outs, channels, kernel, kernel]).unwrap();
        let args = ConvArgs {
            stride: &[1, 1],
            padding: Some(&[0, 0]),
            dilation: &[1, 1],
            groups: 1,
        };
        let sums = conv(Op::Conv2d, &x, &w, None, &SITES, &args).unwrap();
        let want = pointwise(Op::Relu, &[Arg::Tensor(&sums)]).unwrap();
        let after = ConvAfter { plus: None, op };
        let weight = ConvWeight::Once(&w);
        let got = conv_then(Op::Conv2d, &x, weight, None, &SITES, &args, after).unwrap();
        let bits = |raw: &Raw| -> Vec<u32> {
            let numbers = raw.to_vec::<f32>().unwrap();
            numbers.into_iter().map(f32::to_bits).collect()
        };
        assert_eq!(bits(&got), bits(&want));
        assert!(want.to_vec::<f32>().unwrap().iter().any(|y| y.is_nan()));
    }
}

#[test]
fn a_prepared_weight_is_read_like_a_new_one() {
    let check =
        |x: &Raw, w: &Raw, prepared: &PreparedWeight, at: &ConvSites<'_>, args: &ConvArgs<'_>| {
            let (weight, after) = (ConvWeight::Prepared(prepared), ConvAfter::default());
            let got = conv_then(Op::Conv2d, x, weight, None, at, args, after).unwrap();
            same(&got, &conv(Op::Conv2d, x, w, None, at, args).unwrap());
        };
    // A point whose weight is too large to be read in place, several groups, and rows and panels after each other.
    for (shape, groups) in [
        ([270, 520, 1, 1], 1),
        ([24, 12, 3, 3], 2),
        ([40, 40, 3, 3], 1),
    ] {
        let w = numbers(&shape, 2);
        let prepared = PreparedWeight::new(w.clone());
        for (n, height, width) in [(1, 4, 30), (2, 5, 7), (3, 40, 41), (1, 3, 3)] {
            let x = numbers(&[n, shape[1] * groups, height, width], 1);
            for padding in [[0, 0], [1, 0]] {
                let args = ConvArgs {
                    stride: &[1, 1],
                    padding: Some(&padding),
                    dilation: &[1, 1],
                    groups,
                };
                check(&x, &w, &prepared, &SITES, &args);
            }
        }
        // Sites that swap the weight's dims find another weight.
        let turned = ConvSites {
            out: 1,
            weight_channel: 0,
            ..SITES
        };
        let x = numbers(&[1, shape[0], 9, 20], 1);
        let args = ConvArgs {
            stride: &[1, 1],
            padding: None,
            dilation: &[1, 1],
            groups: 1,
        };
        check(&x, &w, &prepared, &turned, &args);
    }
}
