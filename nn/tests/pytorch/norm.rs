//! Group and instance normalization.

use nomina_nn::layers::InstanceNormOptions;

use super::*;

/// Normalizes `groups` of the channels of each sample of (N, C, ..).
fn normalized(arrays: &Arrays, groups: usize, eps: f64, affine: bool) -> Array {
    let x = named(arrays, "x");
    let mut y = x.clone();
    let (batch, channels) = (x.sizes[0], x.sizes[1]);
    let inner: usize = x.sizes[2..].iter().product();
    let row = channels / groups * inner;
    for start in (0..batch * groups).map(|i| i * row) {
        let own = &x.data[start..start + row];
        let mean = own.iter().sum::<f64>() / row as f64;
        let var = own.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / row as f64;
        for i in start..start + row {
            let c = i / inner % channels;
            let z = (x.data[i] - mean) / (var + eps).sqrt();
            y.data[i] = if affine {
                z * named(arrays, "weight").data[c] + named(arrays, "bias").data[c]
            } else {
                z
            };
        }
    }
    y
}

fn arrays(sizes: &[usize]) -> Arrays {
    vec![
        ("x", Array::draw(sizes, 1)),
        ("weight", Array::draw(&[sizes[1]], 2)),
        ("bias", Array::draw(&[sizes[1]], 3)),
    ]
}

fn groups<T: Float>() {
    let mut layer = GroupNorm::<(H, W), C>::new(C.of(6), 3).to::<T>();
    layer.eps = 0.1;
    let forward = |layer: &GroupNorm<(H, W), C, T>, x: &[DynTensor]| {
        let x: Tensor<(N, C, H, W), T> = typed(&x[0]);
        // Dims in another order compute the same.
        let turned = layer.forward(&x.align_to((W, C, N, H)));
        turned.align_to((N, C, H, W)).into_dyn()
    };
    let mut all = arrays(&[2, 6, 2, 3]);
    check::<T, _>(layer.clone(), &all, &["x"], forward, |arrays| {
        normalized(arrays, 3, 0.1, true)
    });
    (layer.weight, layer.bias) = (None, None);
    all.truncate(1);
    check::<T, _>(layer, &all, &["x"], forward, |arrays| {
        normalized(arrays, 3, 0.1, false)
    });
    // No spatial dims, and one that is a batch dim.
    check::<T, _>(
        GroupNorm::<C, C>::new(C.of(6), 2).to::<T>(),
        &arrays(&[3, 6]),
        &["x"],
        |layer, x| {
            let x: Tensor<(N, C), T> = typed(&x[0]);
            layer.forward(&x).into_dyn()
        },
        |arrays| normalized(arrays, 2, 1e-5, true),
    );
}

fn instances<T: Float>() {
    let options = InstanceNormOptions {
        affine: true,
        ..default()
    };
    let forward = |layer: &InstanceNorm<(H, W), C, T>, x: &[DynTensor]| {
        let x: Tensor<(N, C, H, W), T> = typed(&x[0]);
        layer.forward(&x, Mode::Eval).into_dyn()
    };
    let mut all = arrays(&[2, 3, 2, 3]);
    check::<T, _>(
        InstanceNorm::with(C.of(3), options).to::<T>(),
        &all,
        &["x"],
        forward,
        |arrays| normalized(arrays, 3, 1e-5, true),
    );
    all.truncate(1);
    check::<T, _>(
        InstanceNorm::new(C.of(3)).to::<T>(),
        &all,
        &["x"],
        forward,
        |arrays| normalized(arrays, 3, 1e-5, false),
    );
}

/// The state of a layer with running statistics, under PyTorch's names.
fn tracked<T: Float>() -> (InstanceNorm<(H, W), C, T>, Array) {
    let options = InstanceNormOptions {
        affine: true,
        track_running_stats: true,
        momentum: 0.3,
        eps: 0.01,
    };
    let mut layer = InstanceNorm::with(C.of(3), options).to::<T>();
    let state = |seed| Array::draw(&[3], seed).to_dyn::<T>();
    layer.load([
        ("weight", state(2)),
        ("bias", state(3)),
        ("running_mean", state(4)),
        ("running_var", state(5).add(2.0).unwrap()),
        (
            "num_batches_tracked",
            DynTensor::from_vec(vec![7_i64], &[], ()).unwrap(),
        ),
    ]);
    (layer, Array::draw(&[2, 3, 2, 3], 1))
}

fn running_statistics<T: Float>() {
    let (layer, x) = tracked::<T>();
    let typed: Tensor<(N, C, H, W), T> = typed(&x.to_dyn::<T>());
    // Training normalizes by the sample, whatever the running statistics are.
    let all: Arrays = vec![
        ("x", x.clone()),
        ("weight", Array::draw(&[3], 2)),
        ("bias", Array::draw(&[3], 3)),
    ];
    let found = layer.forward(&typed, Mode::Train);
    let want = normalized(&all, 3, 0.01, true).data;
    assert_close::<T>("training", &to_f64(&found.to_dyn()), &want, [1e-12, 1e-5]);
    let (mut mean, mut var) = (Array::draw(&[3], 4).data, Array::draw(&[3], 5).data);
    for c in 0..3 {
        let (mut new_mean, mut new_var) = (0.0, 0.0);
        for n in 0..2 {
            let start = (n * 3 + c) * 6;
            let own = &x.data[start..start + 6];
            let average = own.iter().sum::<f64>() / 6.0;
            new_mean += average / 2.0;
            new_var += own.iter().map(|x| (x - average).powi(2)).sum::<f64>() / 5.0 / 2.0;
        }
        mean[c] = 0.7 * mean[c] + 0.3 * new_mean;
        var[c] = 0.7 * (var[c] + 2.0) + 0.3 * new_var;
    }
    let state = layer.state();
    let saved = |path: &str| to_f64(&state.iter().find(|(own, _)| own == path).unwrap().1);
    assert_close::<T>("mean", &saved("running_mean"), &mean, [1e-12, 1e-5]);
    assert_close::<T>("var", &saved("running_var"), &var, [1e-12, 1e-5]);
    assert_eq!(saved("num_batches_tracked"), [7.0]);
    // Evaluation uses them, and leaves them unchanged.
    let found = layer.forward(&typed, Mode::Eval);
    let (weight, bias) = (Array::draw(&[3], 2).data, Array::draw(&[3], 3).data);
    let want: Vec<f64> = (0..x.data.len())
        .map(|i| {
            let c = i / 6 % 3;
            (x.data[i] - mean[c]) / (var[c] + 0.01).sqrt() * weight[c] + bias[c]
        })
        .collect();
    assert_close::<T>("evaluation", &to_f64(&found.to_dyn()), &want, [1e-12, 1e-5]);
    for ((_, before), (_, after)) in state.iter().zip(layer.state()) {
        assert!(before.equal(&after).unwrap());
    }
    // A single sample, without a batch dim, and one number, which has no variance.
    let _ = layer.forward(&typed.select(N, 0), Mode::Train);
    let one: Tensor<(N, C, H, W), T> = Tensor::ones([2, 3, 1, 1]);
    assert!(layer.try_forward(&one, Mode::Train).is_err());
    let _ = layer.forward(&one, Mode::Eval);
}

for_floats!(groups instances running_statistics);

#[test]
fn groups_divide_the_channels() {
    let error = GroupNorm::<H, C>::try_new(C.of(6), 4).err().unwrap();
    assert!(error.to_string().contains("6 channels in 4 groups"));
}
