//! Against the definition, on sizes that take several blocks and threads.

use nomina_core::op::Op;
use nomina_core::{DType, Scalar};

use super::*;
use crate::call::{Arg, pointwise, to_dtype};
use crate::job::{Resize, Sliding};
use crate::shape::count;

/// Small whole numbers, so that sums are exact in any order.
pub(super) fn numbers(shape: &[usize], seed: usize) -> Raw {
    let count: usize = shape.iter().product();
    let data = (0..count).map(|i| ((i * 7919 + seed * 104_729) % 13) as f32 - 6.0);
    Raw::from_vec(data.collect(), shape).unwrap()
}

pub(super) const SITES: ConvSites<'_> = ConvSites {
    channel: 1,
    spatial: &[2, 3],
    out: 0,
    weight_channel: 1,
    kernel: &[2, 3],
};

/// The definition.
pub(super) fn slow(x: &Raw, w: &Raw, args: &ConvArgs<'_>) -> Raw {
    let (xs, ws) = (x.shape(), w.shape());
    let padding = args.padding.unwrap();
    let out = |i: usize| {
        (xs[i + 2] + 2 * padding[i] - args.dilation[i] * (ws[i + 2] - 1) - 1) / args.stride[i] + 1
    };
    let shape = [xs[0], ws[0], out(0), out(1)];
    let outs = ws[0] / args.groups;
    let mut sums = Vec::new();
    for n in 0..shape[0] {
        for o in 0..shape[1] {
            for y in 0..shape[2] {
                for z in 0..shape[3] {
                    let mut sum = 0.0;
                    for c in 0..ws[1] {
                        for ky in 0..ws[2] {
                            for kz in 0..ws[3] {
                                let at = |o: usize, k: usize, i: usize| {
                                    (o * args.stride[i] + k * args.dilation[i])
                                        .checked_sub(padding[i])
                                        .filter(|&at| at < xs[i + 2])
                                };
                                if let Some((iy, iz)) = at(y, ky, 0).zip(at(z, kz, 1)) {
                                    let channel = o / outs * ws[1] + c;
                                    sum += x.get::<f32>(&[n, channel, iy, iz]).unwrap()
                                        * w.get::<f32>(&[o, c, ky, kz]).unwrap();
                                }
                            }
                        }
                    }
                    sums.push(sum);
                }
            }
        }
    }
    Raw::from_vec(sums, &shape).unwrap()
}

pub(super) fn same(a: &Raw, b: &Raw) {
    assert_eq!(a.shape(), b.shape());
    let (a, b) = (to_dtype(a, DType::F32).unwrap(), b.to_vec::<f32>().unwrap());
    assert_eq!(a.to_vec::<f32>().unwrap(), b);
}

#[test]
fn convolutions_are_the_definition() {
    for (groups, outs) in [(1, 6), (2, 6), (4, 4), (4, 8), (1, 70), (2, 68)] {
        let x = numbers(&[2, 4, 17, 23], groups);
        let w = numbers(&[outs, 4 / groups, 3, 2], outs);
        for (stride, padding, dilation) in [
            ([1, 1], [1, 1], [1, 1]),
            ([2, 1], [0, 2], [1, 3]),
            ([1, 3], [2, 0], [2, 1]),
        ] {
            let args = ConvArgs {
                stride: &stride,
                padding: Some(&padding),
                dilation: &dilation,
                groups,
            };
            let want = slow(&x, &w, &args);
            let got = conv(Op::Conv2d, &x, &w, None, &SITES, &args).unwrap();
            same(&got, &want);
            // With channels innermost, which the result keeps where it is a product.
            let last = x.permute(&[0, 2, 3, 1]).unwrap();
            let last = crate::call::contiguous(&last).unwrap();
            let last = last.permute(&[0, 3, 1, 2]).unwrap();
            same(
                &conv(Op::Conv2d, &last, &w, None, &SITES, &args).unwrap(),
                &want,
            );
            for dtype in [DType::F64, DType::BF16, DType::I64, DType::C64] {
                let [x, w] = [&x, &w].map(|raw| to_dtype(raw, dtype).unwrap());
                let got = conv(Op::Conv2d, &x, &w, None, &SITES, &args).unwrap();
                let want = to_dtype(&want, dtype).unwrap();
                same(&got, &to_dtype(&want, DType::F32).unwrap());
            }
        }
    }
}

#[test]
fn many_channels_are_the_definition() {
    // Several parts of the inner dim, lines of more than one tile, and a panel that is not full.
    let x = numbers(&[1, 130, 6, 29], 1);
    let w = numbers(&[40, 130, 3, 3], 2);
    let bias = numbers(&[40], 3);
    let args = ConvArgs {
        stride: &[1, 1],
        padding: Some(&[1, 1]),
        dilation: &[1, 1],
        groups: 1,
    };
    let unbiased = slow(&x, &w, &args);
    let place = |o: usize| 6 * 29 * o;
    let mut want = unbiased.to_vec::<f32>().unwrap();
    for (o, bias) in bias.iter::<f32>().unwrap().enumerate() {
        for sum in &mut want[place(o)..place(o + 1)] {
            *sum += bias;
        }
    }
    let want = Raw::from_vec(want, unbiased.shape()).unwrap();
    for dtype in [DType::F32, DType::F64, DType::F16, DType::C64, DType::C128] {
        let [x, w, bias] = [&x, &w, &bias].map(|raw| to_dtype(raw, dtype).unwrap());
        for (bias, want) in [(None, &unbiased), (Some(&bias), &want)] {
            let got = conv(Op::Conv2d, &x, &w, bias, &SITES, &args).unwrap();
            let want = to_dtype(want, dtype).unwrap();
            same(&got, &to_dtype(&want, DType::F32).unwrap());
        }
    }
}

fn dot(a: &Raw, b: &Raw) -> f64 {
    let pairs = a.iter::<f32>().unwrap().zip(b.iter::<f32>().unwrap());
    pairs.map(|(a, b)| f64::from(a) * f64::from(b)).sum()
}

#[test]
fn the_transpose_is_the_adjoint() {
    let slides = [
        ([2, 1], [1, 0], [1, 2]),
        ([1, 1], [1, 2], [1, 2]),
        ([1, 1], [3, 1], [1, 1]),
    ];
    for (groups, (stride, padding, dilation)) in [1, 2]
        .into_iter()
        .flat_map(|groups| slides.map(|slide| (groups, slide)))
    {
        let x = numbers(&[2, 4, 31, 40], 1);
        let w = numbers(&[6, 4 / groups, 3, 2], 2);
        let args = ConvArgs {
            stride: &stride,
            padding: Some(&padding),
            dilation: &dilation,
            groups,
        };
        let y = conv(Op::Conv2d, &x, &w, None, &SITES, &args).unwrap();
        let other = numbers(y.shape(), 3);
        let back = conv_transpose(
            Op::ConvTranspose2d,
            &other,
            &w,
            None,
            &ConvSites {
                out: 1,
                weight_channel: 0,
                ..SITES
            },
            &TransposedArgs {
                stride: &stride,
                padding: &padding,
                output_padding: &[0, 0],
                groups,
                dilation: &dilation,
            },
        )
        .unwrap();
        assert_eq!(back.shape(), x.shape());
        assert_eq!(dot(&y, &other), dot(&x, &back));
    }
}

#[test]
fn the_gradient_of_a_weight_is_the_adjoint() {
    for [groups, channels, outs] in [[1, 1, 9], [1, 6, 40], [2, 10, 32], [2, 4, 6], [1, 40, 70]] {
        for (stride, padding, dilation) in [
            ([1, 1], [1, 1], [1, 1]),
            ([2, 3], [1, 0], [1, 1]),
            ([1, 2], [2, 3], [2, 3]),
        ] {
            let x = numbers(&[3, channels, 17, 19], groups);
            let args = ConvArgs {
                stride: &stride,
                padding: Some(&padding),
                dilation: &dilation,
                groups,
            };
            let shape = [outs, channels / groups, 3, 2];
            let ws: Vec<Raw> = (2..5).map(|seed| numbers(&shape, seed)).collect();
            let ys = ws
                .iter()
                .map(|w| conv(Op::Conv2d, &x, w, None, &SITES, &args).unwrap());
            let ys: Vec<Raw> = ys.collect();
            let other = numbers(ys[0].shape(), 6);
            let slide = |at: usize| Sliding {
                size: x.shape()[2 + at],
                kernel: shape[2 + at],
                stride: stride[at],
                before: padding[at],
                dilation: dilation[at],
                out: ys[0].shape()[2 + at],
            };
            let slides = [slide(0), slide(1)];
            let last = x.permute(&[0, 2, 3, 1]).unwrap();
            let last = crate::call::contiguous(&last).unwrap();
            for input in [&x, &last.permute(&[0, 3, 1, 2]).unwrap()] {
                for dtype in [DType::F32, DType::F64, DType::C64] {
                    let [input, other] = [input, &other].map(|raw| to_dtype(raw, dtype).unwrap());
                    let found = (&slides[..], groups);
                    let found = weight_gradient(Op::Conv2d, found, &input, &other, &shape);
                    let found = to_dtype(&found.unwrap().unwrap(), DType::F32).unwrap();
                    for (w, y) in ws.iter().zip(&ys) {
                        let other = to_dtype(&other, DType::F32).unwrap();
                        assert_eq!(dot(y, &other), dot(w, &found), "{outs} {dtype}");
                    }
                }
            }
        }
    }
}

#[test]
fn dims_stand_anywhere() {
    let x = numbers(&[5, 3, 7, 2], 1);
    let w = numbers(&[3, 2, 3, 4], 2);
    let args = ConvArgs {
        stride: &[1, 1],
        padding: Some(&[1, 1]),
        dilation: &[1, 1],
        groups: 1,
    };
    // (H, C, W, N) with a weight (C, KW, KH, O).
    let got = conv(
        Op::Conv2d,
        &x,
        &w,
        None,
        &ConvSites {
            channel: 1,
            spatial: &[0, 2],
            out: 3,
            weight_channel: 0,
            kernel: &[2, 1],
        },
        &args,
    )
    .unwrap();
    let want = slow(
        &x.permute(&[3, 1, 0, 2]).unwrap(),
        &w.permute(&[3, 0, 2, 1]).unwrap(),
        &args,
    );
    same(&got, &want.permute(&[2, 1, 3, 0]).unwrap());
}

#[test]
fn long_lines_are_the_definition() {
    for (x, w, stride, dilation) in [
        // A single line, and several.
        ([1, 40, 1, 733], [36, 40, 1, 3], 1, 1),
        ([2, 40, 1, 601], [20, 40, 1, 3], 1, 100),
        ([1, 40, 3, 300], [36, 40, 2, 5], 1, 1),
        ([1, 40, 2, 650], [20, 40, 1, 5], 2, 3),
    ] {
        let (x, w, bias) = (numbers(&x, 1), numbers(&w, 2), numbers(&[w[0]], 3));
        let args = ConvArgs {
            stride: &[1, stride],
            padding: Some(&[0, 2]),
            dilation: &[1, dilation],
            groups: 1,
        };
        let want = slow(&x, &w, &args);
        let wide = bias.reshape(&[1, bias.numel(), 1, 1]).unwrap();
        let want = pointwise(Op::Add, &[Arg::Tensor(&want), Arg::Tensor(&wide)]).unwrap();
        let prepared = PreparedWeight::new(w.clone());
        for weight in [ConvWeight::Once(&w), ConvWeight::Prepared(&prepared)] {
            let after = ConvAfter::default();
            let got = conv_then(Op::Conv2d, &x, weight, Some(&bias), &SITES, &args, after);
            same(&got.unwrap(), &want);
        }
    }
}

#[test]
fn windows_read_in_place_are_the_definition() {
    for (x, w, groups) in [
        // One channel for each output: lines of less than a vector, of some vectors, and of a single position.
        ([2, 5, 7, 7], [5, 1, 3, 3], 5),
        ([1, 9, 11, 45], [9, 1, 7, 7], 9),
        ([3, 4, 9, 1], [4, 1, 5, 1], 4),
        ([1, 2, 20, 150], [6, 1, 3, 3], 2),
        // Few outputs: several parts of the inner dim, and several tasks.
        ([1, 50, 8, 19], [3, 50, 3, 3], 1),
        ([2, 6, 30, 40], [8, 6, 3, 5], 1),
        // Few elements under the window.
        ([2, 3, 21, 33], [29, 3, 3, 3], 1),
        ([1, 4, 18, 37], [26, 2, 2, 3], 2),
        // Kernels of one element, and an empty batch.
        ([2, 3, 19, 35], [7, 3, 1, 1], 1),
        ([0, 3, 9, 19], [7, 3, 3, 3], 1),
    ] {
        let (x, w) = (numbers(&x, 1), numbers(&w, 2));
        let bias = numbers(&[w.shape()[0]], 3);
        for (stride, padding, dilation) in [
            ([1, 1], [2, 1], [1, 1]),
            ([2, 2], [2, 0], [1, 1]),
            ([1, 3], [4, 1], [2, 1]),
            ([3, 1], [2, 0], [1, 1]),
        ] {
            let args = ConvArgs {
                stride: &stride,
                padding: Some(&padding),
                dilation: &dilation,
                groups,
            };
            let reach = |i: usize| (w.shape()[i + 2] - 1) * dilation[i];
            if (0..2).any(|i| reach(i) >= x.shape()[i + 2] + 2 * padding[i]) {
                continue;
            }
            let unbiased = slow(&x, &w, &args);
            let positions = count(&unbiased.shape()[2..]);
            let outs = bias.numel();
            let added = unbiased
                .iter::<f32>()
                .unwrap()
                .enumerate()
                .map(|(at, sum)| sum + bias.get::<f32>(&[at / positions.max(1) % outs]).unwrap());
            let want = Raw::from_vec(added.collect(), unbiased.shape()).unwrap();
            for dtype in [DType::F32, DType::F64, DType::F16] {
                let [x, w, bias] = [&x, &w, &bias].map(|raw| to_dtype(raw, dtype).unwrap());
                for (bias, want) in [(None, &unbiased), (Some(&bias), &want)] {
                    let got = conv(Op::Conv2d, &x, &w, bias, &SITES, &args).unwrap();
                    let want = to_dtype(want, dtype).unwrap();
                    same(&got, &to_dtype(&want, DType::F32).unwrap());
                }
            }
        }
    }
}

#[test]
fn what_no_memory_holds_is_an_error() {
    let x = numbers(&[1, 2, 3], 1);
    let huge = i64::MAX;
    for pairs in [[(huge, huge)], [(huge, 0)], [(1 << 45, 0)], [(i64::MIN, 0)]] {
        for mode in [PadMode::Constant, PadMode::Replicate, PadMode::Reflect] {
            assert!(pad(Op::Pad, &x, &[2], &pairs, mode, Scalar::Int(0)).is_err());
        }
    }
    let size = usize::MAX / 2;
    assert!(adaptive_avg(Op::AdaptiveAvgPool1d, &x, &[2], &[size]).is_err());
    let resize = Resize {
        dim: 2,
        size,
        factor: None,
    };
    for mode in [
        InterpolateMode::Nearest,
        InterpolateMode::Linear,
        InterpolateMode::Area,
    ] {
        assert!(interpolate(&x, &[resize], mode, false).is_err());
    }
}

#[test]
fn windows_beyond_any_size_are_refused() {
    let x = numbers(&[1, 2, 3], 1);
    let numbers = [1, 2, usize::MAX / 2, usize::MAX - 1, usize::MAX];
    for kernel in numbers {
        for stride in numbers {
            for padding in [0, usize::MAX / 4, usize::MAX / 2, usize::MAX] {
                for dilation in numbers {
                    let args = MaxArgs {
                        kernel: &[kernel],
                        stride: &[stride],
                        padding: &[padding],
                        dilation: &[dilation],
                        ceil_mode: true,
                    };
                    let pooled = max_pool(Op::MaxPool1d, &x, &[2], &args, true);
                    let all = [kernel, stride, padding, dilation];
                    let beyond = all.iter().any(|&n| isize::try_from(n).is_err());
                    assert!(pooled.is_err() || !beyond, "{args:?}");
                }
            }
        }
    }
}
