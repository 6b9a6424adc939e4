//! Convolution, pooling, padding and resampling by name: types, values, and the run-time form.

use nomina::dims::{DimOf, Without};
use nomina::prelude::*;

dims! { N, C, H, W, L, D, Out, KH, KW, KD, K }

fn images() -> Tensor<(N, C, H, W)> {
    Tensor::from_vec(
        (0..2 * 3 * 4 * 5).map(|i| (i % 7) as f32).collect(),
        [2, 3, 4, 5],
    )
    .unwrap()
}

fn weight() -> Tensor<(Out, C, KH, KW)> {
    Tensor::from_vec(
        (0..4 * 3 * 2 * 2).map(|i| (i % 5) as f32 - 2.0).collect(),
        [4, 3, 2, 2],
    )
    .unwrap()
}

/// Generic code needs one bound per relation.
fn layer<S, E, X, A>(
    x: &Tensor<S>,
    channel: X,
    dims: A,
    weight: &Tensor<E>,
) -> Tensor<Convolved<S, E, X>>
where
    S: Dims,
    X: DimOf<S>,
    A: SpatialOf<Without<S, X>, 2>,
    E: Dims + WeightFor<S, X, A, 2>,
{
    x.conv2d(channel, dims, weight)
}

#[test]
fn a_convolution_by_name_is_the_one_by_position() {
    let (x, w) = (images(), weight());
    let want: Tensor<(N, Out, H, W)> = x.conv2d(C, (H, W), &w);
    let dynamic = x.clone().into_dyn().conv2d(&w.clone().into_dyn()).unwrap();
    assert_eq!(dynamic.names().to_string(), "(N, Out, H, W)");
    assert_eq!(want.to_vec(), dynamic.to_vec::<f32>().unwrap());
    assert_eq!(want.shape(), [2, 4, 3, 4]);

    let last: Tensor<(N, H, W, Out)> = x.align_to((N, H, W, C)).conv2d(C, (H, W), &w);
    assert!(last.align_as(&want).equal(&want));
    let turned: Tensor<(W, Out, N, H)> = x.align_to((W, C, N, H)).conv2d(
        C,
        (H, W),
        &w.align_to((KH, C, Out, KW)).align_to((C, Out, KH, KW)),
    );
    assert!(turned.align_as(&want).equal(&want));
    let one: Tensor<(Out, H, W)> = x.select(N, 1).conv2d(C, (H, W), &w);
    assert!(one.equal(&want.select(N, 1)));
    let generic: Tensor<(N, Out, H, W)> = layer(&x, C, (H, W), &w);
    assert!(generic.equal(&want));
    // A kernel's dims may have the names of the dims it slides along.
    let same: Tensor<(N, Out, H, W)> = x.conv2d(C, (H, W), &w.rename((KH, KW), (H, W)));
    assert!(same.equal(&want));
}

#[test]
fn options_and_bias() {
    let (x, w) = (images(), weight());
    let bias: Tensor<(Out,)> = tensor!([1., 2., 3., 4.]; Out);
    let options = ConvOptions {
        stride: [2, 1],
        padding: Padding::Zeros([1, 0]),
        ..default()
    };
    let y = x.conv2d_with(C, (H, W), &w, Some(&bias), options);
    let without = x.conv2d_with(C, (H, W), &w, None, options);
    assert!((&without + bias.align_as(&without)).equal(&y));
    let same = ConvOptions {
        padding: Padding::Same,
        ..default()
    };
    assert_eq!(
        x.conv2d_with(C, (H, W), &w, None, same).shape(),
        [2, 4, 4, 5]
    );
    let depthwise: Tensor<(Out, C, KH, KW)> = Tensor::ones([3, 1, 2, 2]);
    let grouped = ConvOptions {
        groups: 3,
        ..default()
    };
    let sums = x.conv2d_with(C, (H, W), &depthwise, None, grouped);
    let means = x.avg_pool2d_with(
        (H, W),
        [2, 2],
        AvgPoolOptions {
            stride: Some([1, 1]),
            ..default()
        },
    );
    let difference = (sums / 4.0).rename(Out, C) - means;
    assert!(difference.abs().amax(..).item() < 1e-6);
}

#[test]
fn one_and_three_dims_and_transposes() {
    let x = Tensor::<(N, C, L)>::ones([1, 2, 5]);
    let w = Tensor::<(Out, C, K)>::ones([3, 2, 2]);
    let y: Tensor<(N, Out, L)> = x.conv1d(C, L, &w);
    assert_eq!(y.to_vec(), [4.0; 12]);
    let back: Tensor<(N, C, L)> = y.conv_transpose1d(Out, (L,), &w);
    assert_eq!(back.shape(), [1, 2, 5]);
    assert_eq!(back.to_vec()[..5], [12.0, 24.0, 24.0, 24.0, 12.0]);

    let x = Tensor::<(C, D, H, W), f64>::full([1, 3, 3, 3], 1.0);
    let w: Tensor<(Out, C, KD, KH, KW), f64> =
        Tensor::<(Out, C, KD, KH, KW)>::ones([2, 1, 2, 2, 2]).to();
    let y: Tensor<(Out, D, H, W), f64> = x.conv3d(C, (D, H, W), &w);
    assert_eq!(y.to_vec(), [8.0; 16]);
}

/// Depthwise convolutions read lines in whole vectors, the last of which may end beyond the line.
#[test]
fn depthwise_lines_of_any_length() {
    const CHANNELS: usize = 2;
    const KERNEL: usize = 3;
    let weight = [[1_i64, -2, 3], [4, 5, -6]];
    for length in (KERNEL..40).chain([63, 64, 65, 128, 129, 143]) {
        let line = |c: usize, i: usize| (7 * i + 3 * c) as i64 % 11 - 5;
        let x = (0..CHANNELS).flat_map(|c| (0..length).map(move |i| line(c, i) as f32));
        let x: Tensor<(C, W)> = Tensor::from_vec(x.collect(), [CHANNELS, length]).unwrap();
        let w = weight.as_flattened().iter().map(|&w| w as f32).collect();
        let w: Tensor<(Out, C, W)> = Tensor::from_vec(w, [CHANNELS, 1, KERNEL]).unwrap();
        let options = ConvOptions {
            groups: CHANNELS,
            ..default()
        };
        let got = x.conv1d_with(C, (W,), &w, None, options).to_vec();
        let want = (0..CHANNELS).flat_map(|c| {
            let at = move |i: usize| {
                (0..KERNEL)
                    .map(|k| weight[c][k] * line(c, i + k))
                    .sum::<i64>()
            };
            (0..=length - KERNEL).map(move |i| at(i) as f32)
        });
        assert_eq!(got, want.collect::<Vec<_>>(), "{length}");
    }
}

#[test]
fn what_fails_when_it_runs() {
    let (x, w) = (images(), weight());
    let error = x.select(H, 0).try_conv1d(C, W, &w.select(KW, 0)).map(drop);
    assert!(error.is_ok());
    let error = x.narrow(H, 0..1).try_conv2d(C, (H, W), &w).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Shape);
    let text = error.to_string();
    assert!(
        text.contains("at dim `H`") && text.contains("Out=4"),
        "{text}"
    );
    let zero = ConvOptions {
        stride: [0, 1],
        ..default()
    };
    let error = x.try_conv2d_with(C, (H, W), &w, None, zero).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Argument);
    let three = ConvOptions {
        groups: 2,
        ..default()
    };
    let error = x.try_conv2d_with(C, (H, W), &w, None, three).unwrap_err();
    assert!(error.to_string().contains("at dim `C`"), "{error}");
    let error = x.try_max_pool2d((H, W), [9, 1]).unwrap_err();
    assert!(error.to_string().contains("at dim `H`"), "{error}");
}

#[test]
fn pools() {
    let x = images();
    let most: Tensor<(N, C, H, W)> = x.max_pool2d((H, W), [2, 2]);
    assert_eq!(most.shape(), [2, 3, 2, 2]);
    let across: Tensor<(N, C, H, W)> = x.max_pool1d(C, [3]);
    assert!(across.equal(&x.amax(keep(C))));
    let (values, places) = x.max_pool2d_with_indices((W, H), [2, 2], default());
    assert!(values.equal(&most));
    let back = values.max_unpool2d(&places, (W, H), [5, 4]);
    assert_eq!(back.shape(), x.shape());
    assert_eq!(back.sum(..).item(), most.sum(..).item());
    assert!(
        x.adaptive_avg_pool2d((H, W), [1, 1])
            .equal(&x.mean(keep((H, W))))
    );
    let (top, at): (Tensor<(N, C, H, W)>, Tensor<(N, C, H, W), i64>) =
        x.adaptive_max_pool1d_with_indices(N, [1]);
    assert!(top.equal(&x.amax(keep(N))));
    assert_eq!(at.shape(), [1, 3, 4, 5]);
    let norm = x.lp_pool2d((H, W), 1.0, [4, 5]);
    assert_eq!(
        norm.to_vec()[0],
        x.narrow(N, 0..1).narrow(C, 0..1).sum(..).item()
    );
    let whole: Tensor<(H, W), i32> = tensor!([[1, 2], [3, 5]]; H, W; i32);
    assert_eq!(whole.avg_pool2d((H, W), [2, 2]).to_vec(), [2]);
    let three = x.max_pool3d((C, H, W), [3, 4, 5]);
    assert_eq!(three.to_vec(), [6.0, 6.0]);
}

#[test]
fn padding_and_resampling() {
    let x = tensor!([[1., 2., 3.]]; C, L);
    assert_eq!(x.pad(L, [(1, 2)]).to_vec(), [0.0, 1.0, 2.0, 3.0, 0.0, 0.0]);
    assert_eq!(x.pad((L, C), [(-1, 0), (0, 1)]).shape(), [2, 2]);
    for (mode, want) in [
        (PadMode::Reflect, [2.0, 1.0, 2.0, 3.0, 2.0]),
        (PadMode::Replicate, [1.0, 1.0, 2.0, 3.0, 3.0]),
        (PadMode::Circular, [3.0, 1.0, 2.0, 3.0, 1.0]),
    ] {
        let options = PadOptions { mode, ..default() };
        assert_eq!(x.pad_with(L, [(1, 1)], options).to_vec(), want);
    }
    let value = PadOptions {
        value: 7.0.into(),
        ..default()
    };
    assert_eq!(
        x.pad_with(L, [(0, 1)], value).to_vec(),
        [1.0, 2.0, 3.0, 7.0]
    );
    assert_eq!(
        x.try_pad(L, [(-2, -2)]).unwrap_err().kind(),
        ErrorKind::Shape
    );

    let corners = InterpolateOptions {
        mode: InterpolateMode::Linear,
        align_corners: true,
        ..default()
    };
    let wide = x.interpolate_with((L.of(5),), corners);
    assert_eq!(wide.to_vec(), [1.0, 1.5, 2.0, 2.5, 3.0]);
    let images = images();
    let small: Tensor<(N, C, H, W)> = images.interpolate((W.of(2), H.of(3)), InterpolateMode::Area);
    assert_eq!(small.shape(), [2, 3, 3, 2]);
    let numbers: Tensor<(L,), i64> = tensor!([1, 2]; L);
    assert_eq!(
        numbers
            .interpolate((L.of(4),), InterpolateMode::Nearest)
            .to_vec(),
        [1, 1, 2, 2]
    );
    assert!(
        numbers
            .try_interpolate((L.of(4),), InterpolateMode::Cubic)
            .is_err()
    );
}

#[test]
fn shuffles() {
    let x = Tensor::<(H, C, W), i64>::from_vec((0..16).collect(), [2, 4, 2]).unwrap();
    let y = x.pixel_shuffle(C, (H, W), 2);
    assert_eq!(y.shape(), [4, 1, 4]);
    let by_position = x.align_to((C, H, W)).into_dyn().pixel_shuffle(2).unwrap();
    let y = y.align_to((C, H, W));
    assert_eq!(y.to_vec(), by_position.to_vec::<i64>().unwrap());
    assert!(y.pixel_unshuffle(C, (H, W), 2).align_as(&x).equal(&x));
    let order = x.channel_shuffle(C, 2).select(H, 0).select(W, 0);
    assert_eq!(order.to_vec(), [0, 4, 2, 6]);
}

#[test]
fn wild_dims_are_checked_when_it_runs() {
    let named: Tensor<(Wild, C, L)> = Tensor::<(N, C, L)>::ones([1, 2, 5])
        .into_dyn()
        .typed()
        .unwrap();
    let w = Tensor::<(Out, C, K)>::ones([3, 2, 2]);
    let y: Tensor<(Wild, Out, L)> = named.conv1d(C, L, &w);
    assert_eq!(y.names().to_string(), "(N, Out, L)");
    let taken: Tensor<(N, C, K)> = Tensor::ones([3, 2, 2]);
    let error = named.try_conv1d(C, L, &taken).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::DuplicateNames);
    assert_eq!(named.max_pool1d(L, [5]).names().to_string(), "(N, C, L)");
}

/// Computes one output element as PyTorch's `antialias` defines it: the kernel is widened by the downscaling factor and
/// evaluated at the centres of the input elements it covers.
fn filtered(line: &[f64], out: usize, i: usize, cubic: bool) -> f64 {
    let scale = line.len() as f64 / out as f64;
    let wider = f64::max(scale, 1.0);
    let middle = scale * (i as f64 + 0.5);
    let (mut sum, mut total) = (0.0, 0.0);
    for (j, x) in line.iter().enumerate() {
        let d = ((j as f64 + 0.5 - middle) / wider).abs();
        let weight = match cubic {
            false if d < 1.0 => 1.0 - d,
            true if d < 1.0 => 1.5 * d.powi(3) - 2.5 * d.powi(2) + 1.0,
            true if d < 2.0 => -0.5 * d.powi(3) + 2.5 * d.powi(2) - 4.0 * d + 2.0,
            _ => 0.0,
        };
        sum += weight * x;
        total += weight;
    }
    sum / total
}

#[test]
fn fine_patterns_do_not_show_as_coarse_ones() {
    // Alternating black and white is grey at reduced size.
    let stripes =
        Tensor::<(L,)>::from_vec((0..16).map(|i| (i % 2) as f32).collect(), [16]).unwrap();
    let smooth = |mode| InterpolateOptions {
        mode,
        antialias: true,
        ..default()
    };
    let grey = stripes.interpolate_with((L.of(5),), smooth(InterpolateMode::Linear));
    assert!((grey - 0.5).abs().max(..).item() < 0.06);

    let (h, w) = (7, 10);
    let image: Vec<f64> = (0..2 * h * w)
        .map(|i| ((i * i) % 23) as f64 - 3.0)
        .collect();
    for (mode, cubic) in [
        (InterpolateMode::Linear, false),
        (InterpolateMode::Cubic, true),
    ] {
        for (to_h, to_w) in [(3, 4), (7, 10), (2, 19), (1, 1), (9, 3)] {
            let x = Tensor::<(N, H, W), f64>::from_vec(image.clone(), [2, h, w]).unwrap();
            let found = x.interpolate_with((H.of(to_h), W.of(to_w)), smooth(mode));
            assert_eq!(found.shape(), [2, to_h, to_w]);
            let all = found.to_vec();
            for n in 0..2 {
                // Rows first, then columns.
                let row = |r: usize| &image[(n * h + r) * w..][..w];
                for i in 0..to_h {
                    for j in 0..to_w {
                        let column: Vec<f64> =
                            (0..h).map(|r| filtered(row(r), to_w, j, cubic)).collect();
                        let want = filtered(&column, to_h, i, cubic);
                        let found = all[(n * to_h + i) * to_w + j];
                        assert!(
                            (found - want).abs() < 1e-12,
                            "{mode:?} {to_h} {to_w}: {found}, not {want}"
                        );
                    }
                }
            }
            // In 16 bits, and in a permuted layout.
            let low = x.to::<nomina::f16>().align_to((W, N, H));
            let low = low.interpolate_with((W.of(to_w), H.of(to_h)), smooth(mode));
            let off = low.to::<f64>().align_to((N, H, W)) - found;
            assert!(off.abs().max(..).item() < 0.02);
        }
    }
    // NaN and infinities spread as far as the kernel reaches.
    let mut odd = stripes.to_vec();
    (odd[0], odd[15]) = (f32::NAN, f32::INFINITY);
    let odd = Tensor::<(L,)>::from_vec(odd, [16]).unwrap();
    let odd = odd
        .interpolate_with((L.of(4),), smooth(InterpolateMode::Linear))
        .to_vec();
    assert!(odd[0].is_nan() && odd[1].is_finite() && odd[2].is_finite());
    assert_eq!(odd[3], f32::INFINITY);
    for options in [
        smooth(InterpolateMode::Nearest),
        InterpolateOptions {
            align_corners: true,
            ..smooth(InterpolateMode::Cubic)
        },
    ] {
        let error = stripes
            .try_interpolate_with((L.of(4),), options)
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Argument);
    }
    let whole = stripes
        .to::<i32>()
        .try_interpolate_with((L.of(4),), smooth(InterpolateMode::Linear));
    assert_eq!(whole.unwrap_err().kind(), ErrorKind::DType);
}
