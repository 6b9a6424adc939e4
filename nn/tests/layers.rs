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
    manual_seed(0);
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
}

#[test]
fn attention_is_that_of_its_formula() {
    manual_seed(0);
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
    // Where the dims stand elsewhere.
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
}

#[test]
fn rotary_positions_depend_on_distances_alone() {
    manual_seed(0);
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
}

#[test]
fn heads_may_share_keys() {
    manual_seed(0);
    let (hidden, features) = (Hidden.of(8), Feature.of(2));
    let shared =
        MultiHeadAttention::<Seq, Hidden, Head, Feature>::grouped(hidden, Head.of(4), features, 2);
    let mut whole =
        MultiHeadAttention::<Seq, Hidden, Head, Feature>::new(hidden, Head.of(4), features);
    let state = shared.state();
    whole.load(|path| {
        let of = &state.iter().find(|(own, _)| own == path).unwrap().1;
        if path.starts_with("key") || path.starts_with("value") {
            return of.repeat_interleave(2, "Head");
        }
        Ok(of.clone())
    });
    let x = Tensor::<(N, Seq, Hidden)>::randn([2, 3, 8]);
    let [a, b] = [&shared, &whole].map(|layer| layer.forward(&x, Attention::default()));
    assert!(a.allclose_with(&b, CLOSE));
}

#[test]
fn convolutions_replace_their_channel() {
    manual_seed(0);
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
}

#[test]
fn batch_norm_keeps_statistics() {
    manual_seed(0);
    let mut norm = BatchNorm::new(C.of(2));
    let x = Tensor::<(N, C)>::randn([50, 2]) * 3.0 + 1.0;
    for _ in 0..100 {
        let y = norm.train(&x);
        assert!(y.mean(N).abs().max(..).item() < 1e-5);
    }
    assert!(norm.running_mean.allclose_with(
        &x.mean(N),
        CloseOptions {
            rtol: 1e-3,
            ..default()
        }
    ));
    assert!(norm.forward(&x).allclose_with(
        &norm.train(&x),
        CloseOptions {
            atol: 0.05,
            ..default()
        }
    ));
    assert_eq!(
        norm.paths(),
        ["weight", "bias", "running_mean", "running_var"]
    );
    assert_eq!(norm.count(), 4);
}

#[test]
fn layers_in_a_row() {
    let model = Sequential((
        Conv1d::<Seq, C, Out>::new(C.of(2), Out.of(4), Seq.of(3)),
        Function(|x: &Tensor<(N, Out, Seq)>| x.relu().mean(Seq)),
        Linear::new(Out.of(4), Hidden.of(3)),
        RmsNorm::new(Hidden.of(3)),
    ));
    let y: Tensor<(N, Hidden)> = model.forward(&Tensor::<(N, C, Seq)>::randn([2, 2, 8]));
    assert_eq!(y.shape(), [2, 3]);
    assert_eq!(
        model.paths(),
        [
            "0.0.weight",
            "0.0.bias",
            "0.2.weight",
            "0.2.bias",
            "0.3.weight"
        ]
    );
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
    manual_seed(0);
    let layer = Lstm::<Seq, C, Hidden>::new(C.of(3), Hidden.of(4));
    let x = Tensor::<(N, C, Seq)>::randn([2, 3, 5]);
    let (y, [last, kept]) = layer.forward_from(&x, None);
    let y: Tensor<(N, Seq, Hidden)> = y;
    let (mut h, mut c) = (
        Tensor::<(N, Hidden)>::zeros([2, 4]),
        Tensor::<(N, Hidden)>::zeros([2, 4]),
    );
    for at in 0..5 {
        let ahead = gates(&layer.input, &x.select(Seq, at), &layer.input_bias);
        let own: Tensor<(N, Gate, Hidden)> = h
            .rename(Hidden, Prime(Hidden))
            .contract(&layer.hidden, Prime(Hidden))
            + &*layer.hidden_bias;
        let all = ahead + own;
        let gate = |at| all.select(Gate, at);
        c = gate(1).sigmoid() * c + gate(0).sigmoid() * gate(2).tanh();
        h = gate(3).sigmoid() * c.tanh();
        assert!(y.select(Seq, at).allclose_with(&h, CLOSE));
    }
    assert!(last.allclose_with(&h, CLOSE) && kept.allclose_with(&c, CLOSE));
    // In two halves, the same.
    let (_, state) = layer.forward_from(&x.narrow(Seq, 0..2), None);
    let (rest, [again, _]) = layer.forward_from(&x.narrow(Seq, 2..5), Some(&state));
    assert!(rest.allclose_with(&y.narrow(Seq, 2..5), CLOSE) && again.allclose_with(&h, CLOSE));
    y.sum(..).backward();
    assert!(layer.hidden.grad().is_some() && layer.input.grad().is_some());
}

#[test]
fn gru_is_that_of_its_formula() {
    manual_seed(0);
    let layer = Gru::<Seq, C, Hidden>::new(C.of(3), Hidden.of(4));
    let x = Tensor::<(Seq, N, C)>::randn([5, 2, 3]);
    let y: Tensor<(Seq, N, Hidden)> = layer.forward(&x);
    let mut h = Tensor::<(N, Hidden)>::zeros([2, 4]);
    for at in 0..5 {
        let ahead = gates(&layer.input, &x.select(Seq, at), &layer.input_bias);
        let own: Tensor<(N, Gate, Hidden)> = h
            .rename(Hidden, Prime(Hidden))
            .contract(&layer.hidden, Prime(Hidden))
            + &*layer.hidden_bias;
        let [r, z] = [0, 1].map(|at| (ahead.select(Gate, at) + own.select(Gate, at)).sigmoid());
        let n = (ahead.select(Gate, 2) + r * own.select(Gate, 2)).tanh();
        h = (1.0 - &z) * n + z * h;
        assert!(y.select(Seq, at).allclose_with(&h, CLOSE));
    }
}
