//! Layers beside what they are made of.

use nomina::prelude::*;
use nomina_nn::prelude::*;

dims! { N, M, C, H, W, Seq, Hidden, Head, Feature, Out }

/// Sums of numbers of either sign, in another order: they may end near zero, where an error is no part of them.
const CLOSE: CloseOptions = CloseOptions {
    rtol: 1e-5,
    atol: 1e-5,
    equal_nan: false,
};

#[test]
fn linear_takes_dims_wherever_they_stand() {
    with_seed(0, || {
        let layer = Linear::new((Head.of(2), Feature.of(3)), (C.of(4), M.of(5)));
        let x = Tensor::<(Feature, N, Head, Seq)>::randn([3, 2, 2, 6]);
        let y: Tensor<(N, Seq, C, M)> = layer.forward(&x);
        let bias = layer.bias.as_ref().unwrap();
        let wanted = x.contract(&layer.weight, (Head, Feature)) + &**bias;
        assert!(y.allclose_with(&wanted, CLOSE));
        let relu: Tensor<(N, Seq, C, M)> = layer.forward_with(&x, Activation::Relu);
        assert!(relu.allclose_with(&wanted.relu(), CLOSE));
        y.sum(..).backward();
        assert_eq!(bias.grad().unwrap().to_vec(), [12.0; 20]);
        let g = layer.weight.grad().unwrap();
        assert!(
            g.select(C, 0)
                .select(M, 0)
                .allclose_with(&x.sum((N, Seq)).align_to((Head, Feature)), CLOSE)
        );
    });
}

#[test]
fn attention_is_that_of_its_formula() {
    with_seed(0, || {
        let layer = MultiHeadAttention::<Seq, Hidden, Head, Feature>::new(
            Hidden.of(6),
            Head.of(2),
            Feature.of(3),
        );
        let x = Tensor::<(N, Seq, Hidden)>::randn([2, 4, 6]);
        let (q, k, v): (Tensor<(N, Seq, Head, Feature)>, _, _) = (
            layer.query.forward(&x),
            layer.key.forward(&x),
            layer.value.forward(&x),
        );
        let k: Tensor<(N, Prime<Seq>, Head, Feature)> = Tensor::prime(&k, Seq);
        let v: Tensor<(N, Prime<Seq>, Head, Feature)> = Tensor::prime(&v, Seq);
        let scores = q.contract(&k, Feature) / 3f32.sqrt();
        let mixed = |scores: &Tensor<(N, Seq, Head, Prime<Seq>)>| -> Tensor<(N, Seq, Hidden)> {
            let found = scores.softmax(Prime(Seq)).contract(&v, Prime(Seq));
            layer.out.forward(&found)
        };
        let y = layer.forward(&x, Attention::default());
        assert!(y.allclose_with(&mixed(&scores), CLOSE));
        // With dims in other positions.
        let turned = layer.forward(&x.align_to((Hidden, Seq, N)), Attention::default());
        assert!(turned.align_as(&y).allclose_with(&y, CLOSE));
        // The last position of the first sequence counts for nobody.
        let counts = tensor!([[true, true, true, false], [true, true, true, true]]; N, Seq);
        let masked = layer.forward_masked(&x, &counts.prime(Seq), Attention::default());
        let hidden = (!&counts).prime(Seq).align_as(&scores);
        let wanted = mixed(&scores.masked_fill(&hidden, f32::NEG_INFINITY));
        assert!(masked.allclose_with(&wanted, CLOSE));
        // Later positions affect no earlier one.
        let causal = layer.forward(
            &x,
            Attention {
                causal: true,
                ..default()
            },
        );
        let first = layer.forward(&x.narrow(Seq, 0..1), Attention::default());
        assert!(causal.narrow(Seq, 0..1).allclose_with(&first, CLOSE));
    });
}

#[test]
fn rotary_positions_depend_on_distances_alone() {
    with_seed(0, || {
        let layer = MultiHeadAttention::<Seq, Hidden, Head, Feature>::new(
            Hidden.of(8),
            Head.of(2),
            Feature.of(4),
        );
        let rotary = Attention {
            rotary: Some(10_000.0),
            causal: true,
            ..default()
        };
        let x = Tensor::<(Seq, Hidden)>::randn([5, 8]);
        let longer = cat(&[&x.narrow(Seq, 0..1), &x], Seq);
        let masked = tensor!([false, true, true, true, true, true]; Seq);
        let far = Attention {
            causal: false,
            ..rotary
        };
        let (y, later) = (
            layer.forward(&x, far),
            layer.forward_masked(&longer, &masked.prime(Seq), far),
        );
        assert!(later.narrow(Seq, 1..6).allclose_with(&y, CLOSE));
        assert!(!layer.forward(&x, Attention::default()).allclose(&y));
    });
}

#[test]
fn heads_may_share_keys() {
    with_seed(0, || {
        let (hidden, features) = (Hidden.of(8), Feature.of(2));
        let shared = MultiHeadAttention::<Seq, Hidden, Head, Feature>::grouped(
            hidden,
            Head.of(4),
            features,
            2,
        );
        let mut whole =
            MultiHeadAttention::<Seq, Hidden, Head, Feature>::new(hidden, Head.of(4), features);
        whole.load(shared.state().into_iter().map(|(path, tensor)| {
            if path.starts_with("key") || path.starts_with("value") {
                return (path, tensor.repeat_interleave(2, "Head").unwrap());
            }
            (path, tensor)
        }));
        let x = Tensor::<(N, Seq, Hidden)>::randn([2, 3, 8]);
        let [a, b] = [&shared, &whole].map(|layer| layer.forward(&x, Attention::default()));
        assert!(a.allclose_with(&b, CLOSE));
    });
}

#[test]
fn convolutions_replace_their_channel() {
    with_seed(0, || {
        let options = ConvOptions {
            stride: [2, 1],
            ..default()
        };
        let conv = Conv2d::<(H, W), C, Out>::with(C.of(2), Out.of(3), (H.of(3), W.of(2)), options);
        let x = Tensor::<(N, C, H, W)>::randn([2, 2, 7, 5]);
        let y: Tensor<(N, Out, H, W)> = conv.forward(&x);
        assert_eq!(y.shape(), [2, 3, 3, 4]);
        y.sum(..).backward();
        assert_eq!(conv.bias.unwrap().grad().unwrap().to_vec(), [24.0; 3]);
        let bare: Tensor<(Out, H, W)> =
            Conv2d::<(H, W), C, Out>::new(C.of(2), Out.of(3), (H.of(1), W.of(1)))
                .forward(&x.select(N, 0));
        assert_eq!(bare.shape(), [3, 7, 5]);
    });
}

#[test]
fn batch_norm_keeps_statistics() {
    with_seed(0, || {
        let norm = BatchNorm::new(C.of(2));
        let x = Tensor::<(N, C)>::randn([50, 2]) * 3.0 + 1.0;
        for _ in 0..100 {
            let y = norm.forward(&x, Mode::Train);
            assert!(y.mean(N).abs().max(..).item() < 1e-5);
        }
        assert!(norm.running_mean.get().allclose_with(
            &x.mean(N),
            CloseOptions {
                rtol: 1e-3,
                ..default()
            }
        ));
        assert!(norm.forward(&x, Mode::Eval).allclose_with(
            &norm.forward(&x, Mode::Train),
            CloseOptions {
                atol: 0.05,
                ..default()
            }
        ));
        assert_eq!(
            norm.paths(),
            [
                "weight",
                "bias",
                "running_mean",
                "running_var",
                "num_batches_tracked"
            ]
        );
        assert_eq!(norm.count(), 4);
    });
}

#[test]
fn layers_in_a_row() {
    let model = Sequential((
        Conv1d::<Seq, C, Out>::new(C.of(2), Out.of(4), Seq.of(3)),
        Function(|x: &Tensor<(N, Out, Seq)>| x.relu().mean(Seq)),
        Linear::new(Out.of(4), Hidden.of(3)),
        RmsNorm::new(Hidden.of(3)),
    ));
    let y: Tensor<(N, Hidden)> =
        model.forward(&Tensor::<(N, C, Seq)>::randn([2, 2, 8]), Mode::Eval);
    assert_eq!(y.shape(), [2, 3]);
    assert_eq!(
        model.paths(),
        ["0.weight", "0.bias", "2.weight", "2.bias", "3.weight"]
    );
}

fn bias(bias: &Option<Param<(Gate, Hidden)>>) -> &Tensor<(Gate, Hidden)> {
    bias.as_ref().unwrap()
}

/// The gates of a step, by their formulas.
fn gates(
    w: &Tensor<(Gate, Hidden, C)>,
    x: &Tensor<(N, C)>,
    b: &Tensor<(Gate, Hidden)>,
) -> Tensor<(N, Gate, Hidden)> {
    x.contract(w, C) + b
}

#[test]
fn lstm_is_that_of_its_formula() {
    with_seed(0, || {
        let layer = Lstm::<Seq, C, Hidden>::new(C.of(3), Hidden.of(4));
        let x = Tensor::<(N, C, Seq)>::randn([2, 3, 5]);
        let (y, state) = layer.forward_from(&x, None, Mode::Eval);
        let (last, kept) = (&state.hidden[0], &state.cell[0]);
        let y: Tensor<(N, Seq, Hidden)> = y;
        let weights = &layer.first[0];
        let (mut h, mut c) = (
            Tensor::<(N, Hidden)>::zeros([2, 4]),
            Tensor::<(N, Hidden)>::zeros([2, 4]),
        );
        for at in 0..5 {
            let ahead = gates(
                &weights.weight_ih,
                &x.select(Seq, at),
                bias(&weights.bias_ih),
            );
            let own: Tensor<(N, Gate, Hidden)> = h
                .rename(Hidden, Prime(Hidden))
                .contract(&weights.weight_hh, Prime(Hidden))
                + bias(&weights.bias_hh);
            let all = ahead + own;
            let gate = |at| all.select(Gate, at);
            c = gate(1).sigmoid() * c + gate(0).sigmoid() * gate(2).tanh();
            h = gate(3).sigmoid() * c.tanh();
            assert!(y.select(Seq, at).allclose_with(&h, CLOSE));
        }
        assert!(last.allclose_with(&h, CLOSE) && kept.allclose_with(&c, CLOSE));
        // In two halves, the same.
        let (_, state) = layer.forward_from(&x.narrow(Seq, 0..2), None, Mode::Eval);
        let (rest, state) = layer.forward_from(&x.narrow(Seq, 2..5), Some(&state), Mode::Eval);
        assert!(rest.allclose_with(&y.narrow(Seq, 2..5), CLOSE));
        assert!(state.hidden[0].allclose_with(&h, CLOSE));
        y.sum(..).backward();
        assert!(weights.weight_hh.grad().is_some() && weights.weight_ih.grad().is_some());
    });
}

#[test]
fn gru_is_that_of_its_formula() {
    with_seed(0, || {
        let layer = Gru::<Seq, C, Hidden>::new(C.of(3), Hidden.of(4));
        let x = Tensor::<(Seq, N, C)>::randn([5, 2, 3]);
        let y: Tensor<(Seq, N, Hidden)> = layer.forward(&x, Mode::Eval);
        let weights = &layer.first[0];
        let mut h = Tensor::<(N, Hidden)>::zeros([2, 4]);
        for at in 0..5 {
            let ahead = gates(
                &weights.weight_ih,
                &x.select(Seq, at),
                bias(&weights.bias_ih),
            );
            let own: Tensor<(N, Gate, Hidden)> = h
                .rename(Hidden, Prime(Hidden))
                .contract(&weights.weight_hh, Prime(Hidden))
                + bias(&weights.bias_hh);
            let [r, z] = [0, 1].map(|at| (ahead.select(Gate, at) + own.select(Gate, at)).sigmoid());
            let n = (ahead.select(Gate, 2) + r * own.select(Gate, 2)).tanh();
            h = (1.0 - &z) * n + z * h;
            assert!(y.select(Seq, at).allclose_with(&h, CLOSE));
        }
    });
}

#[test]
fn batch_norm_trains_in_a_sequence() {
    with_seed(0, || {
        let mut model = Sequential((
            BatchNorm::new(C.of(3)),
            Sequential((Dropout::new(0.1), Activation::Relu)),
            Linear::new(C.of(3), Out.of(2)),
        ));
        let x = Tensor::<(N, C)>::randn([40, 3]) * 2.0 + tensor!([1., -1., 5.]; C);
        let mut optimizer = AdamW::new(0.01);
        for _ in 0..50 {
            let y: Tensor<(N, Out)> = model.forward(&x, Mode::Train);
            y.square().mean(..).backward();
            optimizer.step(&mut model);
        }
        let norm = &model.0.0;
        let close = CloseOptions {
            rtol: 0.01,
            atol: 0.01,
            ..default()
        };
        assert!(norm.running_mean.get().allclose_with(&x.mean(N), close));
        assert!(norm.running_var.get().allclose_with(&x.var(N), close));
        assert_eq!(norm.num_batches_tracked.get().item(), 50);
        // Evaluation changes nothing.
        let before = model.state();
        let first = model.forward(&x, Mode::Eval);
        assert!(first.equal(&model.forward(&x, Mode::Eval)));
        for ((_, before), (_, after)) in before.iter().zip(model.state()) {
            assert!(before.equal(&after).unwrap());
        }
    });
}

#[test]
fn batch_norm_without_momentum_averages_all_batches() {
    let mut norm = BatchNorm::new(C.of(1));
    norm.momentum = None;
    for batch in [[1., 3.], [5., 7.], [9., 11.]] {
        let x: Tensor<(N, C)> = Tensor::from_vec(batch.to_vec(), [2, 1]).unwrap();
        let _ = norm.forward(&x, Mode::Train);
    }
    let close = |x: f32, y: f32| (x - y).abs() < 1e-5;
    assert!(close(norm.running_mean.get().to_vec()[0], 6.0));
    assert!(close(norm.running_var.get().to_vec()[0], 2.0));
    // A clone has its own statistics.
    let other = norm.clone();
    let _ = other.forward(&Tensor::<(N, C)>::ones([2, 1]), Mode::Train);
    assert!(close(norm.running_mean.get().to_vec()[0], 6.0));
}

#[test]
fn embeddings_and_recurrent_layers_are_layers() {
    with_seed(0, || {
        let model = Sequential((
            Embedding::new(M.of(10), C.of(3)),
            Gru::<Seq, C, Hidden>::new(C.of(3), Hidden.of(4)),
        ));
        let ids: Tensor<(N, Seq), i64> = tensor!([[1, 2, 3]]; N, Seq);
        let y: Tensor<(N, Seq, Hidden)> = model.forward(&ids, Mode::Eval);
        assert_eq!(y.shape(), [1, 3, 4]);
    });
}

#[test]
fn parameters_are_operands() {
    let p = Param::new(tensor!([1., 2.]; C));
    let x = tensor!([[3., 4.]]; N, C);
    let sum = &x + &p;
    assert_eq!(sum.to_vec(), [4., 6.]);
    assert_eq!((&p - &x).to_vec(), [-2., -2.]);
    assert_eq!((&p * 2.0).to_vec(), [2., 4.]);
    assert_eq!((2.0 * &p).to_vec(), [2., 4.]);
    assert_eq!((-&p).to_vec(), [-1., -2.]);
    assert_eq!(x.mul(&p).to_vec(), [3., 8.]);
    assert_eq!(x.maximum(&p).to_vec(), [3., 4.]);
    assert_eq!(x.contract(&p, C).to_vec(), [11.]);
    (&p / &p + 1.0 / &p).sum(..).backward();
    assert_eq!(p.grad().unwrap().to_vec(), [-1., -0.25]);
}
