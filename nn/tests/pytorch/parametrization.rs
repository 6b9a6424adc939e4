//! Weight and spectral normalization.

use super::*;

/// Multiplies (N, In) by (Out, In), and adds a bias.
fn linear(arrays: &Arrays, weight: &Array) -> Array {
    let [x, bias] = ["x", "bias"].map(|name| named(arrays, name));
    let mut y = Array::zeros(&[x.sizes[0], weight.sizes[0]]);
    for at in Array::indices(&y.sizes.clone()) {
        let terms = (0..x.sizes[1]).map(|i| x.at(&[at[0], i]) * weight.at(&[at[1], i]));
        *y.at_mut(&at) = bias.at(&at[1..]) + terms.sum::<f64>();
    }
    y
}

/// Scales each index of dim `dim` to a length; all numbers to one length if there is none.
fn scaled(direction: &Array, lengths: &Array, dim: Option<usize>) -> Array {
    let index = |at: &[usize]| dim.map_or(0, |dim| at[dim]);
    let all = Array::indices(&direction.sizes);
    let mut squares = vec![0.0; lengths.data.len()];
    for at in &all {
        squares[index(at)] += direction.at(at).powi(2);
    }
    let mut weight = direction.clone();
    for at in &all {
        let i = index(at);
        *weight.at_mut(at) *= lengths.data[i] / squares[i].sqrt();
    }
    weight
}

const G: &str = "parametrizations.weight.original0";
const V: &str = "parametrizations.weight.original1";

fn arrays(lengths: &[usize]) -> Arrays {
    vec![
        ("x", Array::draw(&[3, 4], 1)),
        ("bias", Array::draw(&[5], 2)),
        (G, Array::draw(lengths, 3)),
        (V, Array::draw(&[5, 4], 4)),
    ]
}

fn layer<T: Float>() -> Linear<In, Out, T> {
    let layer = Linear::new(In.of(4), Out.of(5));
    Linear {
        weight: Param::new(layer.weight.to()),
        bias: layer.bias.map(|bias| Param::new(bias.to())),
    }
}

fn forward<T: Float, L: Layer<Tensor<(N, In), T>, Out = Tensor<(N, Out), T>>>(
    layer: &L,
    x: &[DynTensor],
) -> DynTensor {
    let x = typed(&x[0]);
    layer.try_apply(&x, Mode::Eval).unwrap().into_dyn()
}

fn weights_of_a_length<T: Float>() {
    // The sizes that PyTorch's files have: dim 0, dim 1, and none.
    let all = arrays(&[5, 1]);
    check::<T, _>(
        WeightNorm::new(layer::<T>()),
        &all,
        &["x"],
        forward::<T, _>,
        |arrays| linear(arrays, &scaled(named(arrays, V), named(arrays, G), Some(0))),
    );
    let all = arrays(&[1, 4]);
    check::<T, _>(
        WeightNorm::along(layer::<T>(), In),
        &all,
        &["x"],
        forward::<T, _>,
        |arrays| linear(arrays, &scaled(named(arrays, V), named(arrays, G), Some(1))),
    );
    let all = arrays(&[]);
    check::<T, _>(
        WeightNorm::along(layer::<T>(), ()),
        &all,
        &["x"],
        forward::<T, _>,
        |arrays| linear(arrays, &scaled(named(arrays, V), named(arrays, G), None)),
    );
    // A new layer computes the same as before, and so does the layer taken out.
    let x: Tensor<(N, In), T> = typed(&Array::draw(&[3, 4], 1).to_dyn::<T>());
    let layer = layer::<T>();
    let want = to_f64(&layer.forward::<_, (N, Out)>(&x).to_dyn());
    let wrapped = WeightNorm::new(layer);
    let found = to_f64(&wrapped.forward(&x, Mode::Train).to_dyn());
    assert_close::<T>("wrapped", &found, &want, [1e-14, 1e-6]);
    let plain = wrapped.into_layer();
    let found = to_f64(&plain.forward::<_, (N, Out)>(&x).to_dyn());
    assert_close::<T>("taken out", &found, &want, [1e-14, 1e-6]);
}

/// Several dims in the place of PyTorch's dim 0, and a kernel.
fn lengths_of_heads_and_kernels<T: Float>() {
    dims! { Head, Feature, C8 = 8 }
    let layer = Linear::new(In.of(4), (Head.of(2), Feature.of(3)));
    let layer: Linear<In, (Head, Feature), T> = Linear {
        weight: Param::new(layer.weight.to()),
        bias: layer.bias.map(|bias| Param::new(bias.to())),
    };
    let mut layer = WeightNorm::new(layer);
    let (lengths, direction) = (Array::draw(&[6, 1], 1), Array::draw(&[6, 4], 2));
    layer.load([
        (V, direction.to_dyn::<T>()),
        ("bias", Array::zeros(&[6]).to_dyn::<T>()),
        (G, lengths.to_dyn::<T>()),
    ]);
    let weight: Tensor<(Head, Feature, In), T> = layer.weight();
    let want = scaled(&direction, &lengths, Some(0)).data;
    assert_close::<T>("heads", &to_f64(&weight.to_dyn()), &want, [1e-14, 1e-6]);

    let (lengths, direction) = (Array::draw(&[8, 1, 1], 1), Array::draw(&[8, 2, 3], 2));
    let conv = ConvTranspose1d::<W, C8, C8>::with(
        C8,
        C8,
        W.of(3),
        ConvTransposeOptions {
            groups: 4,
            ..default()
        },
    )
    .to::<T>();
    let mut layer = WeightNorm::new(conv);
    layer.load([
        (V, direction.to_dyn::<T>()),
        ("bias", Array::zeros(&[8]).to_dyn::<T>()),
        (G, lengths.to_dyn::<T>()),
    ]);
    let want = scaled(&direction, &lengths, Some(0)).data;
    assert_close::<T>(
        "kernels",
        &to_f64(&layer.weight().to_dyn()),
        &want,
        [1e-14, 1e-6],
    );
    let y = layer.forward(&Tensor::<(N, C8, W), T>::ones([1, 8, 4]), Mode::Train);
    assert_eq!(y.shape(), [1, 8, 6]);
}

/// Returns a vector divided by its length.
fn unit(x: Vec<f64>) -> Vec<f64> {
    let length = x.iter().map(|x| x * x).sum::<f64>().sqrt().max(1e-12);
    x.iter().map(|x| x / length).collect()
}

/// Multiplies a matrix, or its transpose, by a vector.
fn product(matrix: &Array, transposed: bool, x: &[f64]) -> Vec<f64> {
    let [rows, columns] = matrix.sizes[..] else {
        panic!("a matrix")
    };
    let (outer, inner) = if transposed {
        (columns, rows)
    } else {
        (rows, columns)
    };
    let entry = |i, j| {
        if transposed {
            matrix.at(&[j, i])
        } else {
            matrix.at(&[i, j])
        }
    };
    (0..outer)
        .map(|i| (0..inner).map(|j| entry(i, j) * x[j]).sum())
        .collect()
}

const ORIGINAL: &str = "parametrizations.weight.original";
const LEFT: &str = "parametrizations.weight.0._u";
const RIGHT: &str = "parametrizations.weight.0._v";

fn spectral_arrays() -> Arrays {
    let vector = |size, seed| Array {
        sizes: vec![size],
        data: unit(Array::draw(&[size], seed).data),
    };
    vec![
        ("x", Array::draw(&[3, 4], 1)),
        ("bias", Array::draw(&[5], 2)),
        (ORIGINAL, Array::draw(&[5, 4], 3)),
        (LEFT, vector(5, 4)),
        (RIGHT, vector(4, 5)),
    ]
}

fn divided_by_a_singular_value<T: Float>() {
    let all = spectral_arrays();
    // Evaluation uses the vectors of the file; they are constants.
    check::<T, _>(
        SpectralNorm::new(layer::<T>()),
        &all,
        &["x"],
        forward::<T, _>,
        |arrays| {
            let mut weight = named(arrays, ORIGINAL).clone();
            let right = product(&weight, false, &named(arrays, RIGHT).data);
            let left = &named(arrays, LEFT).data;
            let value: f64 = left.iter().zip(right).map(|(u, x)| u * x).sum();
            weight.data.iter_mut().for_each(|x| *x /= value);
            linear(arrays, &weight)
        },
    );
    // Training does two steps of power iteration.
    let mut layer = SpectralNorm::new(layer::<T>());
    layer.n_power_iterations = 2;
    let state = all[1..].iter();
    layer.load(state.map(|(name, array)| (*name, array.to_dyn::<T>())));
    let weight = named(&all, ORIGINAL);
    let (mut u, mut v) = (Vec::new(), named(&all, RIGHT).data.clone());
    for _ in 0..2 {
        u = unit(product(weight, false, &v));
        v = unit(product(weight, true, &u));
    }
    let value: f64 = u
        .iter()
        .zip(product(weight, false, &v))
        .map(|(u, x)| u * x)
        .sum();
    let want: Vec<f64> = weight.data.iter().map(|x| x / value).collect();
    let found = to_f64(&layer.weight(Mode::Train).to_dyn());
    assert_close::<T>("weight", &found, &want, [1e-13, 1e-5]);
    assert_close::<T>("u", &to_f64(&layer.u.get().to_dyn()), &u, [1e-13, 1e-5]);
    assert_close::<T>("v", &to_f64(&layer.v.get().to_dyn()), &v, [1e-13, 1e-5]);
    // Evaluation changes nothing, and computes with the same weight.
    let found = to_f64(&layer.weight(Mode::Eval).to_dyn());
    assert_close::<T>("weight", &found, &want, [1e-13, 1e-5]);
    assert_close::<T>("u", &to_f64(&layer.u.get().to_dyn()), &u, [1e-13, 1e-5]);
    let plain = layer.into_layer();
    assert_close::<T>(
        "taken out",
        &to_f64(&plain.weight.to_dyn()),
        &want,
        [1e-13, 1e-5],
    );
}

for_floats!(weights_of_a_length lengths_of_heads_and_kernels divided_by_a_singular_value);

#[test]
fn the_largest_singular_value_becomes_one() {
    with_seed(0, || {
        let kernel = (H.of(3), W.of(2));
        let conv = Conv2d::<(H, W), C, Out>::new(C.of(2), Out.of(5), kernel);
        let layer = SpectralNorm::new(conv);
        let x = Tensor::<(N, C, H, W)>::randn([1, 2, 4, 4]);
        for _ in 0..50 {
            let _ = layer.forward(&x, Mode::Train);
        }
        // The largest eigenvalue of the products of all rows.
        let weight = layer.weight(Mode::Eval).detach();
        let mut rows = weight.contract(&weight.rename(Out, Prime(Out)), (C, H, W));
        for _ in 0..10 {
            let next: Tensor<(Out, Prime<Out>)> = rows.matmul(&rows);
            rows = next;
        }
        let trace: f32 = (0..5)
            .map(|i| rows.select(Out, i).select(Prime(Out), i).item())
            .sum();
        assert!((trace.powf(1.0 / 1024.0) - 1.0).abs() < 1e-3, "{trace}");
        // The rows of a transposed convolution are its outputs, as in PyTorch.
        let conv = ConvTranspose2d::<(H, W), C, Out>::new(C.of(2), Out.of(5), kernel);
        let layer = SpectralNorm::new(conv);
        assert_eq!(
            (layer.u.get().shape(), layer.v.get().shape()),
            (&[5][..], &[2, 3, 2][..])
        );
        // Other rows.
        let conv = Conv2d::<(H, W), C, Out>::new(C.of(2), Out.of(5), kernel);
        let layer = SpectralNorm::along(conv, C);
        assert_eq!(layer.v.get().shape(), [5, 3, 2]);
    });
}

#[test]
fn parametrized_layers_train_and_load() {
    with_seed(1, || {
        let mut model = Sequential((
            WeightNorm::new(Linear::new(In.of(4), Other.of(8))),
            Activation::Tanh,
            SpectralNorm::new(Linear::new(Other.of(8), Out.of(1))),
        ));
        assert_eq!(model.count(), (8 * 4 + 8 + 8) + (8 + 1));
        let x = Tensor::<(N, In)>::randn([64, 4]);
        let target = x.sum(In).tanh() * 0.5;
        let mut optimizer = AdamW::new(0.02);
        let mut losses = Vec::new();
        for _ in 0..100 {
            let y: Tensor<(N, Out)> = model.forward(&x, Mode::Train);
            let loss = (y.select(Out, 0) - &target).square().mean(..);
            losses.push(loss.item());
            loss.backward();
            optimizer.step(&mut model);
        }
        assert!(losses[99] < 0.2 * losses[0], "{} {}", losses[0], losses[99]);
        let mut other = nomina_nn::init::unset(|| {
            Sequential((
                WeightNorm::new(Linear::new(In.of(4), Other.of(8))),
                Activation::Tanh,
                SpectralNorm::new(Linear::new(Other.of(8), Out.of(1))),
            ))
        });
        other.load(model.state());
        let [a, b]: [Tensor<(N, Out)>; 2] = [&model, &other].map(|m| m.forward(&x, Mode::Eval));
        assert!(a.equal(&b));
    });
}
