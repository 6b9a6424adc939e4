//! Convolutions and their transposes, with groups and constant sizes.

use super::*;

dims! { C8 = 8, C6 = 6, C4 = 4 }

/// The numbers of a convolution along any dims.
struct Slide<'a> {
    stride: &'a [usize],
    padding: &'a [usize],
    output_padding: &'a [usize],
    dilation: &'a [usize],
    groups: usize,
}

/// Calls `visit` with the indices of input, output and kernel that are multiplied, for each position along dims of
/// sizes `[short]`, the smaller side of the convolution, and `[long]`.
fn pairs(
    slide: &Slide<'_>,
    [short, long, kernel]: [&[usize]; 3],
    mut visit: impl FnMut(&[usize], &[usize], &[usize]),
) {
    for near in Array::indices(short) {
        for tap in Array::indices(kernel) {
            let far: Option<Vec<usize>> = (0..short.len())
                .map(|d| {
                    let at = near[d] * slide.stride[d] + tap[d] * slide.dilation[d];
                    at.checked_sub(slide.padding[d]).filter(|at| *at < long[d])
                })
                .collect();
            if let Some(far) = far {
                visit(&near, &far, &tap);
            }
        }
    }
}

/// Computes a convolution of (N, C, ..), or its transpose, with PyTorch's weight.
fn reference(arrays: &Arrays, slide: &Slide<'_>, transposed: bool) -> Array {
    let [x, weight, bias] = ["x", "weight", "bias"].map(|name| named(arrays, name));
    let (batch, channels, outputs) = (x.sizes[0], x.sizes[1], bias.sizes[0]);
    let (size, kernel) = (&x.sizes[2..], &weight.sizes[2..]);
    let spatial: Vec<usize> = (0..size.len())
        .map(|d| {
            let reach = slide.dilation[d] * (kernel[d] - 1) + 1;
            if transposed {
                (size[d] - 1) * slide.stride[d] + reach + slide.output_padding[d]
                    - 2 * slide.padding[d]
            } else {
                (size[d] + 2 * slide.padding[d] - reach) / slide.stride[d] + 1
            }
        })
        .collect();
    let mut y = Array::zeros(&[&[batch, outputs], &spatial[..]].concat());
    for at in Array::indices(&y.sizes.clone()) {
        *y.at_mut(&at) = bias.at(&[at[1]]);
    }
    let (own, its) = (channels / slide.groups, outputs / slide.groups);
    let sides = if transposed {
        [size, &spatial]
    } else {
        [&spatial, size]
    };
    for n in 0..batch {
        for (c, o) in (0..channels).flat_map(|c| (0..outputs).map(move |o| (c, o))) {
            if c / own != o / its {
                continue;
            }
            pairs(slide, [sides[0], sides[1], kernel], |near, far, tap| {
                let (from, to, rows) = if transposed {
                    (near, far, [c, o % its])
                } else {
                    (far, near, [o, c % own])
                };
                let product = x.at(&[&[n, c], from].concat()) * weight.at(&[&rows, tap].concat());
                *y.at_mut(&[&[n, o], to].concat()) += product;
            });
        }
    }
    y
}

fn arrays(x: &[usize], weight: &[usize], outputs: usize) -> Arrays {
    vec![
        ("x", Array::draw(x, 1)),
        ("weight", Array::draw(weight, 2)),
        ("bias", Array::draw(&[outputs], 3)),
    ]
}

/// Converts a layer.
macro_rules! cast {
    ($name:ident, $layer:ident) => {
        $name {
            weight: Param::new($layer.weight.to::<T>()),
            bias: $layer.bias.map(|bias| Param::new(bias.to::<T>())),
            options: $layer.options,
        }
    };
}

fn grouped<T: Float>() {
    let options = ConvOptions {
        stride: [2, 1],
        padding: [1, 2].into(),
        dilation: [1, 2],
        groups: 2,
    };
    let layer = Conv2d::<(H, W), C8, C6>::with(C8, C6, (H.of(3), W.of(2)), options);
    let layer: Conv2d<(H, W), C8, C6, T> = cast!(Conv2d, layer);
    let slide = Slide {
        stride: &[2, 1],
        padding: &[1, 2],
        output_padding: &[0, 0],
        dilation: &[1, 2],
        groups: 2,
    };
    check::<T, _>(
        layer,
        &arrays(&[2, 8, 4, 3], &[6, 4, 3, 2], 6),
        &["x"],
        |layer, x| {
            let x: Tensor<(N, C8, H, W), T> = typed(&x[0]);
            let y: Tensor<(N, C6, H, W), T> = layer.forward(&x);
            y.into_dyn()
        },
        |arrays| reference(arrays, &slide, false),
    );
}

fn depthwise<T: Float>() {
    // The channels keep their name, and each has two outputs in the second case.
    let options = ConvOptions {
        padding: Padding::Same,
        groups: 4,
        ..default()
    };
    let slide = Slide {
        stride: &[1],
        padding: &[1],
        output_padding: &[0],
        dilation: &[1],
        groups: 4,
    };
    let layer = Conv1d::<W, C4, C4>::with(C4, C4, W.of(3), options);
    let layer: Conv1d<W, C4, C4, T> = cast!(Conv1d, layer);
    check::<T, _>(
        layer,
        &arrays(&[3, 4, 5], &[4, 1, 3], 4),
        &["x"],
        |layer, x| {
            let x: Tensor<(N, C4, W), T> = typed(&x[0]);
            let y: Tensor<(N, C4, W), T> = layer.forward(&x);
            y.into_dyn()
        },
        |arrays| reference(arrays, &slide, false),
    );
    let layer = Conv1d::<W, C4, Out>::with(C4, Out.of(8), W.of(3), options);
    let layer: Conv1d<W, C4, Out, T> = cast!(Conv1d, layer);
    check::<T, _>(
        layer,
        &arrays(&[3, 4, 5], &[8, 1, 3], 8),
        &["x"],
        |layer, x| {
            // The channels last.
            let x: Tensor<(N, C4, W), T> = typed(&x[0]);
            let y: Tensor<(N, W, Out), T> = layer.forward(&x.align_to((N, W, C4)));
            y.align_to((N, Out, W)).into_dyn()
        },
        |arrays| reference(arrays, &slide, false),
    );
}

fn transposed_along_one_dim<T: Float>() {
    let options = ConvTransposeOptions {
        stride: [3],
        padding: [2],
        output_padding: [1],
        dilation: [2],
        groups: 1,
    };
    let slide = Slide {
        stride: &[3],
        padding: &[2],
        output_padding: &[1],
        dilation: &[2],
        groups: 1,
    };
    let layer = ConvTranspose1d::<W, C, Out>::with(C.of(3), Out.of(2), W.of(3), options).to::<T>();
    check::<T, _>(
        layer,
        &arrays(&[2, 3, 4], &[3, 2, 3], 2),
        &["x"],
        |layer, x| {
            let x: Tensor<(N, C, W), T> = typed(&x[0]);
            let y: Tensor<(N, Out, W), T> = layer.forward(&x);
            y.into_dyn()
        },
        |arrays| reference(arrays, &slide, true),
    );
}

fn transposed_with_groups<T: Float>() {
    let options = ConvTransposeOptions {
        stride: [2, 1],
        padding: [1, 0],
        groups: 2,
        ..default()
    };
    let layer =
        ConvTranspose2d::<(H, W), C6, C4>::with(C6, C4, (H.of(3), W.of(2)), options).to::<T>();
    let mut slide = Slide {
        stride: &[2, 1],
        padding: &[1, 0],
        output_padding: &[0, 0],
        dilation: &[1, 1],
        groups: 2,
    };
    let arrays = arrays(&[2, 6, 3, 2], &[6, 2, 3, 2], 4);
    check::<T, _>(
        layer.clone(),
        &arrays,
        &["x"],
        |layer, x| {
            let x: Tensor<(N, C6, H, W), T> = typed(&x[0]);
            let y: Tensor<(N, C4, H, W), T> = layer.forward(&x);
            y.into_dyn()
        },
        |arrays| reference(arrays, &slide, true),
    );
    slide.output_padding = &[1, 0];
    check::<T, _>(
        layer.clone(),
        &arrays,
        &["x"],
        |layer, x| {
            let x: Tensor<(N, C6, H, W), T> = typed(&x[0]);
            layer.forward_to(&x, (H.of(6), W.of(3))).into_dyn()
        },
        |arrays| reference(arrays, &slide, true),
    );
    let x: Tensor<(N, C6, H, W), T> = Tensor::zeros([2, 6, 3, 2]);
    let error = layer.try_forward_to(&x, (H.of(7), W.of(3))).unwrap_err();
    assert!(error.to_string().contains("5 to 6"), "{error}");
}

fn transposed_along_three_dims<T: Float>() {
    let slide = Slide {
        stride: &[1; 3],
        padding: &[0; 3],
        output_padding: &[0; 3],
        dilation: &[1; 3],
        groups: 1,
    };
    // The channels keep their name.
    let kernel = (D.of(2), H.of(1), W.of(2));
    let layer = ConvTranspose3d::<(D, H, W), C, C>::new(C.of(2), C.of(2), kernel).to::<T>();
    check::<T, _>(
        layer,
        &arrays(&[1, 2, 2, 2, 3], &[2, 2, 2, 1, 2], 2),
        &["x"],
        |layer, x| {
            let x: Tensor<(N, C, D, H, W), T> = typed(&x[0]);
            let y: Tensor<(N, C, D, H, W), T> = layer.forward(&x);
            y.into_dyn()
        },
        |arrays| reference(arrays, &slide, true),
    );
}

for_floats!(grouped depthwise transposed_along_one_dim transposed_with_groups transposed_along_three_dims);

#[test]
fn bounds_of_initial_weights() {
    with_seed(0, || {
        let options = ConvTransposeOptions {
            groups: 2,
            ..default()
        };
        // PyTorch's fan-in of a transposed weight is its second dim times the kernel.
        let layer = ConvTranspose1d::<W, C, Out>::with(C.of(64), Out.of(32), W.of(4), options);
        let bound = (1.0_f32 / (16.0 * 4.0)).sqrt();
        let most = layer.weight.abs().max(..).item();
        assert!(most <= bound && most > 0.95 * bound);
        assert!(layer.bias.unwrap().abs().max(..).item() <= bound);
        let layer = Bilinear::<In, Other, Out>::new(In.of(16), Other.of(30), Out.of(20));
        let most = layer.weight.abs().max(..).item();
        assert!(most <= 0.25 && most > 0.24);
    });
}

#[test]
fn groups_that_do_not_fit_are_refused() {
    let options = ConvOptions {
        groups: 3,
        ..default()
    };
    let layer = Conv1d::<W, C8, C6>::with(C8, C6, W.of(1), options);
    let error = layer.try_forward(&Tensor::<(N, C8, W)>::zeros([1, 8, 2]));
    assert!(error.unwrap_err().to_string().contains("3 groups"));
}

#[test]
fn names_known_at_run_time_stay() {
    let x: Tensor<(Wild, C, W)> = Tensor::<(N, C, W)>::ones([1, 2, 5])
        .into_dyn()
        .typed()
        .unwrap();
    let layer = Conv1d::<W, C, Out>::new(C.of(2), Out.of(3), W.of(2));
    assert_eq!(layer.forward(&x).names().to_string(), "(N, Out, W)");
    let taken = Conv1d::<W, C, N>::new(C.of(2), N.of(3), W.of(2));
    let error = taken.try_forward(&x).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::DuplicateNames);
}
