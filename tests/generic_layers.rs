//! Layers as a library would write them, generic over dims: with explicit bounds, and with the
//! attribute that generates them. Values are compared with plain loops.

use nomina::dims::Of;
use nomina::prelude::*;

dims! { N, T, H, W, C, Seq, Source, Embed, Heads, Head, Inner, Batch, In, Out }

// Scale of channels

fn scale_channels<D: Dims + Has<C>>(x: &Tensor<D>, scale: &Tensor<(C,)>) -> Tensor<D> {
    x * scale.align_as(x)
}

#[relations(D: Has<C>)]
fn scale_channels_short<D>(x: &Tensor<D>, scale: &Tensor<(C,)>) -> Tensor<D> {
    x * scale.align_as(x)
}

// Layer normalisation

fn layer_norm<D: Dims + Has<X>, X: Dim>(
    x: &Tensor<D>,
    dim: X,
    weight: &Tensor<(X,)>,
    bias: &Tensor<(X,)>,
) -> Tensor<D> {
    let centred = x - x.mean(keep(dim));
    let deviation = ((&centred * &centred).mean(keep(dim)) + 1e-5).sqrt();
    centred / deviation * weight.align_as(x) + bias.align_as(x)
}

#[relations(D: Has<X>)]
fn layer_norm_short<D, X, F: Float>(
    x: &Tensor<D, F>,
    dim: X,
    weight: &Tensor<(X,), F>,
    bias: &Tensor<(X,), F>,
) -> Tensor<D, F> {
    let centred = x - x.mean(keep(dim));
    let deviation = ((&centred * &centred).mean(keep(dim)) + 1e-5).sqrt();
    centred / deviation * weight.align_as(x) + bias.align_as(x)
}

/// Normalizes over any number of dims, by the operator for it.
fn layer_norm_over<D: Dims, A: AxesOf<D>, F: Float>(
    x: &Tensor<D, F>,
    dims: A,
    options: LayerNormOptions<'_, A::List, F>,
) -> Tensor<D, F> {
    x.layer_norm_with(dims, options)
}

// Linear

type Rows<D> = Contracted<D, (In, Out), In>;

fn linear<D: Dims>(
    x: &Tensor<D>,
    weight: &Tensor<(In, Out)>,
    bias: &Tensor<(Out,)>,
) -> Tensor<Sum<Rows<D>, (Out,)>>
where
    In: Contract<D, (In, Out)>,
    Rows<D>: Broadcast<(Out,)>,
{
    x.contract(weight, In) + bias
}

#[relations]
fn linear_short<D, I, O, F: Float>(
    x: &Tensor<D, F>,
    dim: I,
    weight: &Tensor<(I, O), F>,
    bias: &Tensor<(O,), F>,
) -> Tensor<Sum<Contracted<D, (I, O), I>, (O,)>, F> {
    x.contract(weight, dim) + bias
}

// Multi-head attention

struct Attention {
    query: Tensor<(Embed, Inner)>,
    key: Tensor<(Embed, Inner)>,
    value: Tensor<(Embed, Inner)>,
    out: Tensor<(Inner, Embed)>,
    heads: usize,
}

impl Attention {
    fn sizes(&self) -> (Of<Heads>, Of<Head>) {
        let width = self.query.size(Inner) / self.heads;
        (Heads.of(self.heads), Head.of(width))
    }

    /// Flattens all other dims into one while it works: their names and number do not matter.
    fn forward<D: Dims + Has<Seq> + Has<Embed>>(&self, x: &Tensor<D>) -> Tensor<D> {
        let rows = x.flatten_others((Seq, Embed), Batch);
        let heads = |weight| rows.contract(weight, Embed).unflatten(Inner, self.sizes());
        let query: Tensor<(Batch, Seq, Heads, Head)> = heads(&self.query);
        let key = heads(&self.key).rename(Seq, Source);
        let value = heads(&self.value).rename(Seq, Source);
        let scores = query.contract(&key, Head) / (query.size(Head) as f32).sqrt();
        let mixed = scores.softmax(Source).contract(&value, Source);
        let mixed = mixed.flatten((Heads, Head), Inner);
        mixed.contract(&self.out, Inner).unflatten_as(Batch, x)
    }

    /// Keeps the name of every dim; the attribute names the types of the intermediate results.
    #[relations(
        let Q = Unflattened<Contracted<D, (Embed, Inner), Embed>, Inner, (Of<Heads>, Of<Head>)>,
        let K = Renamed<Q, Seq, Source>,
        let Scores = Contracted<Q, K, Head>, Scores: Has<Source>,
        let Mixed = Contracted<Scores, K, Source>,
        let Y = Contracted<Flattened<Mixed, (Heads, Head), Inner>, (Inner, Embed), Inner>,
        Y: AlignInto<D>,
    )]
    fn by_name<D>(&self, x: &Tensor<D>) -> Tensor<D> {
        let heads = |weight| x.contract(weight, Embed).unflatten(Inner, self.sizes());
        let query: Tensor<Q> = heads(&self.query);
        let key: Tensor<K> = heads(&self.key).rename(Seq, Source);
        let value = heads(&self.value).rename(Seq, Source);
        let scores = query.contract(&key, Head) / (self.sizes().1.size as f32).sqrt();
        let mixed = scores.softmax(Source).contract(&value, Source);
        let mixed = mixed.flatten((Heads, Head), Inner);
        mixed.contract(&self.out, Inner).align_as(x)
    }
}

/// Returns pseudo-random numbers, so that a wrong order cannot go unnoticed.
fn numbers<D: Dims + Distinct>(seed: usize, shape: impl ShapeFor<D>) -> Tensor<D> {
    let mut count = seed * 7919;
    Tensor::from_fn(shape, |_| {
        count += 1;
        ((count * count * 31 + count * 17) % 211) as f32 / 105.0 - 1.0
    })
}

#[track_caller]
fn close(found: &[f32], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (a, b) in found.iter().zip(expected) {
        assert!((f64::from(*a) - b).abs() < 1e-4, "{a} {b}");
    }
}

#[test]
fn scale_channels_wherever_they_stand() {
    let scale = tensor!([1., 2., 3.]; C);
    let x = numbers::<(N, C, H)>(1, [2, 3, 4]);
    let expected: Vec<f64> = x
        .indexed_iter()
        .map(|(at, value)| f64::from(value) * (at[1] + 1) as f64)
        .collect();
    close(&scale_channels(&x, &scale).to_vec(), &expected);
    close(&scale_channels_short(&x, &scale).to_vec(), &expected);
    let turned = scale_channels(&x.align_to((H, C, N)), &scale);
    close(&turned.align_as(&x).to_vec(), &expected);
    let alone = scale_channels(&scale, &scale);
    close(&alone.to_vec(), &[1., 4., 9.]);
}

/// Normalizes rows of `width` elements, one after the other.
fn normal(rows: &[f32], width: usize, weight: &[f32], bias: &[f32]) -> Vec<f64> {
    let mut out = Vec::new();
    for row in rows.chunks(width) {
        let row: Vec<f64> = row.iter().map(|&value| f64::from(value)).collect();
        let mean = row.iter().sum::<f64>() / width as f64;
        let variance = row.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / width as f64;
        out.extend(row.iter().enumerate().map(|(i, v)| {
            (v - mean) / (variance + 1e-5).sqrt() * f64::from(weight[i]) + f64::from(bias[i])
        }));
    }
    out
}

#[test]
fn layer_norm_over_any_dim() {
    let weight = tensor!([1., -2., 3.]; C);
    let bias = tensor!([0.5, 0., -1.]; C);
    let x = numbers::<(N, H, C)>(2, [2, 4, 3]);
    let expected = normal(&x.to_vec(), 3, &weight.to_vec(), &bias.to_vec());
    close(&layer_norm(&x, C, &weight, &bias).to_vec(), &expected);
    close(&layer_norm_short(&x, C, &weight, &bias).to_vec(), &expected);
    let options = LayerNormOptions {
        weight: Some(&weight),
        bias: Some(&bias),
        ..default()
    };
    close(&layer_norm_over(&x, C, options).to_vec(), &expected);
    let turned = layer_norm(&x.align_to((C, N, H)), C, &weight, &bias);
    close(&turned.align_as(&x).to_vec(), &expected);
    let whole = layer_norm_over(&x, (N, H, C), default());
    close(
        &whole.to_vec(),
        &normal(&x.to_vec(), 24, &[1.0; 24], &[0.0; 24]),
    );
    let double = layer_norm_short(&x.double(), C, &weight.double(), &bias.double());
    close(&double.float().to_vec(), &expected);
}

#[test]
fn linear_under_any_leading_dims() {
    let weight = numbers::<(In, Out)>(3, [4, 3]);
    let bias = tensor!([10., 20., 30.]; Out);
    let w = weight.to_vec();
    let rows = |x: &[f32]| -> Vec<f64> {
        let each = |row: &[f32], out: usize| -> f64 {
            let terms = row.iter().enumerate();
            let sum: f64 = terms
                .map(|(i, v)| f64::from(*v) * f64::from(w[i * 3 + out]))
                .sum();
            sum + 10.0 * (out + 1) as f64
        };
        x.chunks(4)
            .flat_map(|row| (0..3).map(move |out| each(row, out)))
            .collect()
    };
    let vector = numbers::<(In,)>(4, [4]);
    let y: Tensor<(Out,)> = linear(&vector, &weight, &bias);
    close(&y.to_vec(), &rows(&vector.to_vec()));
    let matrix = numbers::<(N, In)>(5, [5, 4]);
    let y: Tensor<(N, Out)> = linear(&matrix, &weight, &bias);
    close(&y.to_vec(), &rows(&matrix.to_vec()));
    let images = numbers::<(N, H, W, In)>(6, [2, 3, 2, 4]);
    let y: Tensor<(N, H, W, Out)> = linear_short(&images, In, &weight, &bias);
    close(&y.to_vec(), &rows(&images.to_vec()));
    // The dim may be at any position; the new dim is last.
    let turned: Tensor<(N, H, W, Out)> = linear(&images.align_to((In, ..)), &weight, &bias);
    close(&turned.to_vec(), &rows(&images.to_vec()));
}

/// Attention of one sequence, `[seq][embed]`, in plain loops.
fn attend(x: &[f32], width: usize, layer: &Attention) -> Vec<f64> {
    let inner = layer.query.size(Inner);
    let size = inner / layer.heads;
    let product = |rows: &[f64], width: usize, weight: &[f32]| -> Vec<f64> {
        let columns = weight.len() / width;
        let each = |row: &[f64], column: usize| -> f64 {
            let terms = row.iter().enumerate();
            terms
                .map(|(i, v)| v * f64::from(weight[i * columns + column]))
                .sum()
        };
        let rows = rows.chunks(width);
        rows.flat_map(|row| (0..columns).map(move |column| (row, column)))
            .map(|(row, column)| each(row, column))
            .collect()
    };
    let x: Vec<f64> = x.iter().map(|&value| f64::from(value)).collect();
    let [q, k, v] =
        [&layer.query, &layer.key, &layer.value].map(|weight| product(&x, width, &weight.to_vec()));
    let steps = x.len() / width;
    let mut mixed = vec![0.0; steps * inner];
    for head in 0..layer.heads {
        let of = |rows: &[f64], step: usize| -> Vec<f64> {
            rows[step * inner + head * size..][..size].to_vec()
        };
        for step in 0..steps {
            let dot = |other| -> f64 {
                let (q, k) = (of(&q, step), of(&k, other));
                q.iter().zip(k).map(|(a, b)| a * b).sum::<f64>() / (size as f64).sqrt()
            };
            let weights: Vec<f64> = (0..steps).map(|other| dot(other).exp()).collect();
            let total: f64 = weights.iter().sum();
            for (other, weight) in weights.iter().enumerate() {
                for (i, value) in of(&v, other).iter().enumerate() {
                    mixed[step * inner + head * size + i] += weight / total * value;
                }
            }
        }
    }
    product(&mixed, inner, &layer.out.to_vec())
}

#[test]
fn attention_under_any_batch_dims() {
    let layer = Attention {
        query: numbers(11, [4, 6]),
        key: numbers(12, [4, 6]),
        value: numbers(13, [4, 6]),
        out: numbers(14, [6, 4]),
        heads: 2,
    };
    let x = numbers::<(N, T, Seq, Embed)>(15, [2, 3, 5, 4]);
    let expected: Vec<f64> = x
        .to_vec()
        .chunks(20)
        .flat_map(|one| attend(one, 4, &layer))
        .collect();
    close(&layer.forward(&x).to_vec(), &expected);
    close(&layer.by_name(&x).to_vec(), &expected);
    let one: Tensor<(Seq, Embed)> = x.select(N, 1).select(T, 2);
    close(&layer.forward(&one).to_vec(), &expected[100..]);
    close(&layer.by_name(&one).to_vec(), &expected[100..]);
    let turned = x.align_to((Embed, T, Seq, N));
    close(&layer.forward(&turned).align_as(&x).to_vec(), &expected);
    close(&layer.by_name(&turned).align_as(&x).to_vec(), &expected);
    let wide = x.unflatten(T, (T.of(1), H.of(3), W.of(1)));
    close(&layer.forward(&wide).to_vec(), &expected);
    close(&layer.by_name(&wide).to_vec(), &expected);
    // A batch dim may have a name that the layer uses only internally.
    let busy = x.rename((N, T), (Heads, Batch));
    close(&layer.forward(&busy).to_vec(), &expected);
    // A `Wild` among the batch dims keeps its run-time name.
    let wild: Tensor<(Wild, T, Seq, Embed)> = x.to_dyn().typed().expect("the dims fit");
    let y = layer.forward(&wild);
    assert_eq!(y.names(), names!["N", "T", "Seq", "Embed"]);
    close(&y.to_vec(), &expected);
}

#[test]
fn others_come_back_with_other_sizes() {
    let x = numbers::<(Seq, N, Embed, H)>(16, [3, 2, 4, 5]);
    let rows: Tensor<(Batch, Embed, Seq)> = x.flatten_others((Embed, Seq), Batch);
    assert_eq!(rows.shape(), [10, 4, 3]);
    assert!(rows.unflatten_as(Batch, &x).equal(&x));
    let first = rows.narrow(Seq, 0..1).unflatten_as(Batch, &x);
    assert!(first.equal(&x.narrow(Seq, 0..1)));
    let fewer = rows
        .select(Embed, 3)
        .unflatten_as(Batch, &x.select(Embed, 0));
    assert!(fewer.equal(&x.select(Embed, 3)));
    let short = rows.narrow(Batch, 0..9);
    let error = short
        .try_unflatten_as(Batch, &x)
        .expect_err("9 is not 2 * 5");
    assert_eq!(error.kind(), ErrorKind::Flatten);
    assert!(
        error.to_string().contains("do not multiply to 9"),
        "{error}"
    );
}
