//! Layers without parameters, and the bilinear one.

use super::*;

/// Pools each of the last dims of (N, C, ..) into parts as PyTorch divides them.
fn pooled(arrays: &Arrays, parts: &[usize], greatest: bool) -> Array {
    let x = named(arrays, "x");
    let mut y = Array::zeros(&[&x.sizes[..2], parts].concat());
    for at in Array::indices(&y.sizes.clone()) {
        let ranges: Vec<(usize, usize)> = (0..parts.len())
            .map(|d| {
                let (i, size) = (at[2 + d], x.sizes[2 + d]);
                (i * size / parts[d], ((i + 1) * size).div_ceil(parts[d]))
            })
            .collect();
        let lengths: Vec<usize> = ranges.iter().map(|(from, to)| to - from).collect();
        let values: Vec<f64> = Array::indices(&lengths)
            .iter()
            .map(|step| {
                let inner = step
                    .iter()
                    .zip(&ranges)
                    .map(|(step, (from, _))| from + step);
                x.at(&[&at[..2], &inner.collect::<Vec<_>>()].concat())
            })
            .collect();
        *y.at_mut(&at) = if greatest {
            values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
        } else {
            values.iter().sum::<f64>() / values.len() as f64
        };
    }
    y
}

fn adaptive_pools<T: Float>() {
    let image: Arrays = vec![("x", Array::draw(&[2, 2, 5, 3], 1))];
    check::<T, _>(
        AdaptiveAvgPool::new((H.of(3), W.of(2))),
        &image,
        &["x"],
        |layer, x| {
            let x: Tensor<(N, C, H, W), T> = typed(&x[0]);
            layer.forward(&x).into_dyn()
        },
        |arrays| pooled(arrays, &[3, 2], false),
    );
    // One dim keeps its size.
    check::<T, _>(
        AdaptiveMaxPool::new(H.of(2)),
        &image,
        &["x"],
        |layer, x| {
            let x: Tensor<(N, C, H, W), T> = typed(&x[0]);
            layer.forward(&x).into_dyn()
        },
        |arrays| pooled(arrays, &[2, 3], true),
    );
    check::<T, _>(
        AdaptiveMaxPool::new((H.of(4), W.of(2))),
        &image,
        &["x"],
        |layer, x| {
            let x: Tensor<(N, C, H, W), T> = typed(&x[0]);
            layer
                .forward(&x.align_to((W, N, H, C)))
                .align_to((N, C, H, W))
                .into_dyn()
        },
        |arrays| pooled(arrays, &[4, 2], true),
    );
    check::<T, _>(
        AdaptiveAvgPool::new((D.of(1), H.of(2), W.of(2))),
        &vec![("x", Array::draw(&[1, 2, 2, 3, 5], 2))],
        &["x"],
        |layer, x| {
            let x: Tensor<(N, C, D, H, W), T> = typed(&x[0]);
            layer.forward(&x).into_dyn()
        },
        |arrays| pooled(arrays, &[1, 2, 2], false),
    );
}

/// The positions and weights of the two neighbours that PyTorch interpolates between.
fn neighbours(
    i: usize,
    size: usize,
    out: usize,
    scale: Option<f64>,
    corners: bool,
) -> [(usize, f64); 2] {
    let source = if corners {
        let steps = (out - 1).max(1) as f64;
        i as f64 * (size - 1) as f64 / steps
    } else {
        let step = scale.map_or(size as f64 / out as f64, |scale| 1.0 / scale);
        ((i as f64 + 0.5) * step - 0.5).max(0.0)
    };
    let low = source.floor() as usize;
    [
        (low, 1.0 - source.fract()),
        ((low + 1).min(size - 1), source.fract()),
    ]
}

/// Interpolates the last two dims linearly.
fn bilinearly(arrays: &Arrays, out: [usize; 2], scale: Option<[f64; 2]>, corners: bool) -> Array {
    let x = named(arrays, "x");
    let mut y = Array::zeros(&[x.sizes[0], x.sizes[1], out[0], out[1]]);
    for at in Array::indices(&y.sizes.clone()) {
        let [rows, columns] = [0, 1].map(|d| {
            let scale = scale.map(|scale| scale[d]);
            neighbours(at[2 + d], x.sizes[2 + d], out[d], scale, corners)
        });
        for (i, a) in rows {
            for (j, b) in columns {
                *y.at_mut(&at) += a * b * x.at(&[at[0], at[1], i, j]);
            }
        }
    }
    y
}

fn upsampling<T: Float>() {
    let image: Arrays = vec![("x", Array::draw(&[1, 2, 3, 4], 1))];
    let forward = |layer: &Upsample<(H, W)>, x: &[DynTensor]| {
        let x: Tensor<(N, C, H, W), T> = typed(&x[0]);
        layer.forward(&x).into_dyn()
    };
    let linear = |align_corners| InterpolateOptions {
        mode: InterpolateMode::Linear,
        align_corners,
        ..default()
    };
    let sizes = (H.of(5), W.of(7));
    for corners in [false, true] {
        check::<T, _>(
            Upsample::to_sizes(sizes, linear(corners)),
            &image,
            &["x"],
            forward,
            |arrays| bilinearly(arrays, [5, 7], None, corners),
        );
    }
    // 1.9 times 3 is 5.7, so there are 5 rows, whose positions are those of the factor 1.9.
    let factors = [1.9, 1.3];
    check::<T, _>(
        Upsample::with((H, W), &factors, linear(false)),
        &image,
        &["x"],
        forward,
        |arrays| bilinearly(arrays, [5, 5], Some(factors), false),
    );
    check::<T, _>(
        Upsample::new((H, W), 2.0, InterpolateMode::Nearest),
        &image,
        &["x"],
        forward,
        |arrays| {
            let x = named(arrays, "x");
            let mut y = Array::zeros(&[1, 2, 6, 8]);
            for at in Array::indices(&[1, 2, 6, 8]) {
                *y.at_mut(&at) = x.at(&[at[0], at[1], at[2] / 2, at[3] / 2]);
            }
            y
        },
    );
    let wrong = Upsample::with((H, W), &[1.0, 2.0, 3.0], linear(false));
    let x: Tensor<(C, H, W), T> = Tensor::ones([1, 2, 2]);
    let error = wrong.try_forward(&x).unwrap_err();
    assert!(error.to_string().contains("one for each dim"), "{error}");
}

fn bilinear<T: Float>() {
    let arrays: Arrays = vec![
        ("x", Array::draw(&[3, 4], 1)),
        ("y", Array::draw(&[3, 2], 2)),
        ("weight", Array::draw(&[5, 4, 2], 3)),
        ("bias", Array::draw(&[5], 4)),
    ];
    check::<T, _>(
        Bilinear::<In, Other, Out>::new(In.of(4), Other.of(2), Out.of(5)).to::<T>(),
        &arrays,
        &["x", "y"],
        |layer, x| {
            let pair: (Tensor<(N, In), T>, Tensor<(N, Other), T>) = (typed(&x[0]), typed(&x[1]));
            let z: Tensor<(N, Out), T> = layer.forward(&pair.0, &pair.1);
            let again: Tensor<(N, Out), T> = layer.try_apply(&pair, Mode::Eval).unwrap();
            assert!(again.equal(&z));
            z.into_dyn()
        },
        |arrays| {
            let [x, y, weight, bias] = ["x", "y", "weight", "bias"].map(|name| named(arrays, name));
            let mut z = Array::zeros(&[3, 5]);
            for at in Array::indices(&[3, 5]) {
                *z.at_mut(&at) = bias.at(&at[1..]);
                for ij in Array::indices(&[4, 2]) {
                    let product = x.at(&[at[0], ij[0]]) * y.at(&[at[0], ij[1]]);
                    *z.at_mut(&at) += weight.at(&[at[1], ij[0], ij[1]]) * product;
                }
            }
            z
        },
    );
    // A batch dim of one input alone.
    let layer = Bilinear::<In, Other, Out>::new(In.of(4), Other.of(2), Out.of(5)).to::<T>();
    let x: Tensor<(N, In), T> = Tensor::ones([3, 4]);
    let y: Tensor<(H, Other, N), T> = Tensor::ones([2, 2, 3]);
    let z: Tensor<(N, Out, H), T> = layer.forward(&x, &y);
    assert_eq!(z.shape(), [3, 5, 2]);
}

fn dropped_channels<T: Float>() {
    let dropout = ChannelDropout::new((H, W), 0.25);
    let x: Tensor<(N, C, H, W), T> = typed(&Array::draw(&[50, 20, 2, 3], 1).to_dyn::<T>());
    let x = x.with_grad();
    let mut generator = Generator::new(5);
    let y = dropout.forward_from(&x, Mode::Train, &mut generator);
    let again = dropout.forward_from(&x, Mode::Train, &mut Generator::new(5));
    let other = dropout.forward_from(&x, Mode::Train, &mut generator);
    assert!(y.equal(&again) && !y.equal(&other));
    y.sum(..).backward();
    let grad = to_f64(&x.grad().unwrap().to_dyn());
    let (x, y) = (to_f64(&x.to_dyn()), to_f64(&y.to_dyn()));
    let mut dropped = 0;
    for channel in 0..1000 {
        let own = channel * 6..(channel + 1) * 6;
        let factor = if grad[own.start] == 0.0 {
            0.0
        } else {
            1.0 / 0.75
        };
        dropped += usize::from(factor == 0.0);
        for i in own {
            assert!((grad[i] - factor).abs() < 1e-6 && (y[i] - factor * x[i]).abs() < 1e-6);
        }
    }
    assert!((200..300).contains(&dropped), "{dropped}");
    let wrong = ChannelDropout::new((H, W), 1.5);
    let x: Tensor<(C, H, W), T> = Tensor::ones([2, 2, 2]);
    assert!(wrong.try_forward(&x, Mode::Train).is_err());
    assert!(dropout.forward(&x, Mode::Eval).equal(&x));
}

for_floats!(adaptive_pools upsampling bilinear dropped_channels);

#[test]
fn layers_in_a_row() {
    with_seed(0, || {
        let model = Sequential((
            Conv2d::<(H, W), C, Out>::new(C.of(2), Out.of(6), (H.of(3), W.of(3))),
            GroupNorm::<(H, W), Out>::new(Out.of(6), 2),
            ChannelDropout::new((H, W), 0.5),
            Upsample::new((H, W), 2.0, InterpolateMode::Nearest),
            ConvTranspose2d::<(H, W), Out, C>::new(Out.of(6), C.of(3), (H.of(2), W.of(2))),
            InstanceNorm::<(H, W), C>::new(C.of(3)),
            AdaptiveMaxPool::new((H.of(2), W.of(2))),
            AdaptiveAvgPool::new((H.of(1), W.of(1))),
        ));
        let x = Tensor::<(N, C, H, W)>::randn([2, 2, 6, 6]);
        let y: Tensor<(N, C, H, W)> = model.forward(&x, Mode::Train);
        assert_eq!(y.shape(), [2, 3, 1, 1]);
        assert_eq!(
            model.paths(),
            [
                "0.weight", "0.bias", "1.weight", "1.bias", "4.weight", "4.bias"
            ]
        );
    });
}

/// A model of all layers whose dtype can be chosen.
fn chain<T: Float>() -> impl Module + Layer<Tensor<(N, C, H, W), T>, Out = Tensor<(N, C, H, W), T>>
{
    let kernel = (H.of(3), W.of(2));
    let tracked = InstanceNormOptions {
        affine: true,
        track_running_stats: true,
        ..default()
    };
    Sequential((
        WeightNorm::new(
            ConvTranspose2d::<(H, W), C, Out>::new(C.of(2), Out.of(4), kernel).to::<T>(),
        ),
        GroupNorm::<(H, W), Out>::new(Out.of(4), 2).to::<T>(),
        SpectralNorm::new(
            ConvTranspose2d::<(H, W), Out, C>::new(Out.of(4), C.of(3), kernel).to::<T>(),
        ),
        InstanceNorm::<(H, W), C>::with(C.of(3), tracked).to::<T>(),
        ChannelDropout::new((H, W), 0.0),
        Upsample::new((H, W), 2.0, InterpolateMode::Linear),
        AdaptiveAvgPool::new((H.of(3), W.of(3))),
    ))
}

fn sixteen_bits<T: Float>() {
    with_seed(3, || {
        let (rounded, mut whole) = (chain::<T>(), chain::<f32>());
        let state = rounded.state().into_iter();
        whole.load(state.map(|(path, x)| {
            let x = if x.is_floating_point() {
                x.to::<f32>().unwrap()
            } else {
                x
            };
            (path, x)
        }));
        let x: Tensor<(N, C, H, W)> = typed(
            &Array::draw(&[2, 2, 4, 4], 1)
                .to_dyn::<T>()
                .to::<f32>()
                .unwrap(),
        );
        let weights: Tensor<(N, C, H, W)> = typed(&Array::draw(&[2, 3, 3, 3], 2).to_dyn::<f32>());
        let (y, want) = (
            rounded.try_apply(&x.to::<T>(), Mode::Train).unwrap(),
            whole.try_apply(&x, Mode::Train).unwrap(),
        );
        let off = (y.to::<f32>() - &want).abs().max(..).item();
        assert!(off < 0.06, "{off}");
        (y.to::<f32>() * &weights).sum(..).backward();
        (want * &weights).sum(..).backward();
        for ((path, own), (_, other)) in rounded.params().iter().zip(whole.params()) {
            let [own, other] = [own, &other].map(|x| to_f64(&x.grad().unwrap()));
            let length = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
            let apart: Vec<f64> = own.iter().zip(&other).map(|(a, b)| a - b).collect();
            // The bias before a norm has no gradient but what rounding leaves.
            assert!(
                length(&apart) < 0.08 * length(&other).max(1.0),
                "{path}: {own:?} {other:?}"
            );
        }
    });
}

#[test]
fn layers_compute_in_16_bits() {
    sixteen_bits::<bf16>();
    sixteen_bits::<f16>();
}
