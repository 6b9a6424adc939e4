//! Recurrent layers beside plain loops.

use nomina::prelude::*;
use nomina_nn::layers::{
    BiGru, BiLstm, BiRnn, Direction, Gru, Lstm, RecurrentOptions, RecurrentWeights, Rnn, RnnCell,
};
use nomina_nn::prelude::*;

use crate::reference::{
    Kind, Recurrence, State, assert_close, check_gradients, numbers, state_of, weighted,
    weighted_sum,
};

dims! { N, Seq, C, Hidden, Out }

const LENGTHS: [usize; 3] = [3, 5, 1];

fn input() -> Tensor<(N, Seq, C)> {
    Tensor::randn([3, 5, 2])
}

/// Compares outputs, final states and gradients with those of plain loops, with and without lengths.
macro_rules! check {
    ($layer:expr, $kind:expr, $directions:literal, $states:literal, $layers:literal) => {{
        let layer = $layer;
        let x = input().with_grad();
        for lengths in [LENGTHS, [5; 3]] {
            let ids = lengths.map(|length| length as i64).to_vec();
            let given: Tensor<(N,), i64> = Tensor::from_vec(ids, [3]).unwrap();
            let (y, state) = if lengths == [5; 3] {
                layer.forward_from(&x, None, Mode::Eval)
            } else {
                layer.forward_lengths(&x, &given, None, Mode::Eval)
            };
            let data = numbers(&x.to_dyn());
            let plain = Recurrence {
                kind: $kind,
                layers: $layers,
                directions: $directions,
                inputs: 2,
                states: $states,
                x: &data,
                len: 5,
                lengths: &lengths,
            };
            let wanted = plain.run(&state_of(&layer));
            assert_close(&numbers(&y.to_dyn()), &wanted.outputs, 1e-5, "outputs");
            for (found, wanted) in state.hidden.iter().zip(&wanted.hidden) {
                assert_close(&numbers(&found.to_dyn()), wanted, 1e-5, "hidden states");
            }
            for (found, wanted) in state.cell.iter().zip(&wanted.cell) {
                assert_close(&numbers(&found.to_dyn()), wanted, 1e-5, "cells");
            }
            assert_eq!(state.hidden.len(), $layers);
            let mut loss = weighted_sum(&y);
            for hidden in &state.hidden {
                loss += weighted_sum(hidden);
            }
            for cell in &state.cell {
                loss += weighted_sum(cell);
            }
            layer.zero_grad();
            x.zero_grad();
            loss.backward();
            let plain_loss = |run: &Recurrence<'_>, state: &State| {
                let found = run.run(state);
                let mut loss = weighted(&found.outputs);
                loss += found
                    .hidden
                    .iter()
                    .map(|hidden| weighted(hidden))
                    .sum::<f64>();
                if run.kind == Kind::Lstm {
                    loss += found.cell.iter().map(|cell| weighted(cell)).sum::<f64>();
                }
                loss
            };
            check_gradients(&layer, |state| plain_loss(&plain, state));
            // The gradient of the input, which is zero behind a sequence's end.
            let own = state_of(&layer);
            let mut wanted = Vec::new();
            for at in 0..data.len() {
                let moved = |by: f64| {
                    let mut data = data.clone();
                    data[at] += by;
                    plain_loss(&Recurrence { x: &data, ..plain }, &own)
                };
                wanted.push((moved(1e-5) - moved(-1e-5)) / 2e-5);
            }
            assert_close(
                &numbers(&x.grad().unwrap().to_dyn()),
                &wanted,
                2e-4,
                "input",
            );
        }
    }};
}

fn options(layers: usize) -> RecurrentOptions {
    RecurrentOptions {
        layers,
        ..default()
    }
}

#[test]
fn rnn_is_that_of_plain_loops() {
    with_seed(1, || {
        let sizes = || (C.of(2), Hidden.of(3));
        let (c, h) = sizes();
        check!(
            Rnn::<Seq, C, Hidden>::with(c, h, options(2)),
            Kind::Tanh,
            1,
            3,
            2
        );
        let (c, h) = sizes();
        check!(
            BiRnn::<Seq, C, Hidden>::with(c, h, options(2)),
            Kind::Tanh,
            2,
            3,
            2
        );
        let (c, h) = sizes();
        let mut relu = Rnn::<Seq, C, Hidden>::new(c, h);
        relu.cell = RnnCell::Relu;
        check!(relu, Kind::Relu, 1, 3, 1);
    });
}

#[test]
fn lstm_is_that_of_plain_loops() {
    with_seed(2, || {
        check!(
            Lstm::<Seq, C, Hidden>::new(C.of(2), Hidden.of(3)),
            Kind::Lstm,
            1,
            3,
            1
        );
        check!(
            BiLstm::<Seq, C, Hidden>::with(C.of(2), Hidden.of(3), options(2)),
            Kind::Lstm,
            2,
            3,
            2
        );
        let bare = RecurrentOptions {
            bias: false,
            ..options(3)
        };
        check!(
            Lstm::<Seq, C, Hidden>::with(C.of(2), Hidden.of(2), bare),
            Kind::Lstm,
            1,
            2,
            3
        );
    });
}

#[test]
fn projected_lstm_is_that_of_plain_loops() {
    with_seed(3, || {
        check!(
            Lstm::<Seq, C, Hidden, f32, Out>::projected(
                C.of(2),
                Hidden.of(4),
                Out.of(3),
                options(2)
            ),
            Kind::Lstm,
            1,
            4,
            2
        );
        check!(
            BiLstm::<Seq, C, Hidden, f32, Out>::projected(
                C.of(2),
                Hidden.of(3),
                Out.of(2),
                options(2)
            ),
            Kind::Lstm,
            2,
            3,
            2
        );
    });
}

#[test]
fn gru_is_that_of_plain_loops() {
    with_seed(4, || {
        check!(
            Gru::<Seq, C, Hidden>::with(C.of(2), Hidden.of(3), options(2)),
            Kind::Gru,
            1,
            3,
            2
        );
        check!(
            BiGru::<Seq, C, Hidden>::with(C.of(2), Hidden.of(3), options(2)),
            Kind::Gru,
            2,
            3,
            2
        );
    });
}

#[test]
fn a_padded_batch_is_each_sequence_alone() {
    with_seed(5, || {
        let layer = BiLstm::<Seq, C, Hidden>::with(C.of(2), Hidden.of(3), options(2));
        let x = input();
        let (y, state) = layer.forward_lengths(&x, &tensor!([3, 5, 1]; N), None, Mode::Eval);
        for (n, &length) in LENGTHS.iter().enumerate() {
            let n = n as i64;
            let alone = x.select(N, n).narrow(Seq, 0..length);
            let (wanted, last) = layer.forward_from(&alone, None, Mode::Eval);
            let found = y.select(N, n);
            assert!(found.narrow(Seq, 0..length).allclose(&wanted));
            assert_eq!(found.narrow(Seq, length..).abs().sum(..).item(), 0.0);
            for layer in 0..2 {
                assert!(
                    state.hidden[layer]
                        .select(N, n)
                        .allclose(&last.hidden[layer])
                );
                assert!(state.cell[layer].select(N, n).allclose(&last.cell[layer]));
            }
        }
        // Elements behind the end have no effect, not even NaN, and dims may be in any order.
        let behind = tensor!([[3], [5], [1]]; N, Seq);
        let behind = Tensor::<(Seq,), i64>::arange(0, 5, 1).ge(&behind);
        let broken = x
            .masked_fill(&behind.align_as(&x), f32::NAN)
            .align_to((C, N, Seq));
        let broken = broken.with_grad();
        let (again, _) = layer.forward_lengths(&broken, &tensor!([3, 5, 1]; N), None, Mode::Eval);
        assert!(again.equal(&y));
        again.sum(..).backward();
        assert!(layer.params().iter().all(|(_, param)| {
            numbers(&param.grad().unwrap())
                .iter()
                .all(|grad| grad.is_finite())
        }));
    });
}

#[test]
fn the_backward_direction_is_the_forward_one_of_reversed_inputs() {
    with_seed(6, || {
        let both = BiGru::<Seq, C, Hidden>::new(C.of(2), Hidden.of(3));
        let mut one = Gru::<Seq, C, Hidden>::new(C.of(2), Hidden.of(3));
        one.load(both.state().into_iter().filter_map(|(path, tensor)| {
            Some((path.strip_suffix("_reverse")?.to_owned(), tensor))
        }));
        let x = input();
        let (y, state) = both.forward_from(&x, None, Mode::Eval);
        let (wanted, last) = one.forward_from(&x.flip(Seq), None, Mode::Eval);
        assert!(y.select(Direction, 1).allclose(&wanted.flip(Seq)));
        assert!(
            state.hidden[0]
                .select(Direction, 1)
                .allclose(&last.hidden[0])
        );
    });
}

#[test]
fn sequences_may_be_empty() {
    with_seed(7, || {
        let layer = BiLstm::<Seq, C, Hidden>::new(C.of(2), Hidden.of(3));
        let x = input();
        let first = layer.forward_from(&x, None, Mode::Eval).1;
        let lengths = tensor!([0, 2, 0]; N);
        let (y, state) = layer.forward_lengths(&x, &lengths, Some(&first), Mode::Eval);
        assert!(
            state.hidden[0]
                .select(N, 0)
                .equal(&first.hidden[0].select(N, 0))
        );
        assert!(
            state.cell[0]
                .select(N, 2)
                .equal(&first.cell[0].select(N, 2))
        );
        assert!(
            !state.cell[0]
                .select(N, 1)
                .equal(&first.cell[0].select(N, 1))
        );
        assert_eq!(y.select(N, 0).abs().sum(..).item(), 0.0);
        let none = tensor!([0, 0, 0]; N);
        let (y, _) = layer.forward_lengths(&x, &none, None, Mode::Eval);
        assert_eq!(y.abs().sum(..).item(), 0.0);
        y.sum(..).backward();
        for wrong in [-1, 6] {
            let lengths = tensor!([0, 2, 0]; N).add(&tensor!([0, 0, 1]; N).mul(wrong));
            let error = layer
                .try_forward_lengths(&x, &lengths, None, Mode::Eval)
                .unwrap_err();
            let text = error.to_string();
            assert!(
                text.contains(&format!("the length {wrong} is not between 0 and")),
                "{text}"
            );
        }
    });
}

#[test]
fn a_sequence_in_two_parts_is_the_same() {
    with_seed(8, || {
        let layer = Lstm::<Seq, C, Hidden, f32, Out>::projected(
            C.of(2),
            Hidden.of(4),
            Out.of(3),
            options(2),
        );
        let x = input();
        let (whole, last) = layer.forward_from(&x, None, Mode::Eval);
        let (_, state) = layer.forward_from(&x.narrow(Seq, ..2), None, Mode::Eval);
        let (rest, state) = layer.forward_from(&x.narrow(Seq, 2..), Some(&state), Mode::Eval);
        assert!(rest.allclose(&whole.narrow(Seq, 2..)));
        assert!(state.hidden[1].allclose(&last.hidden[1]) && state.cell[0].allclose(&last.cell[0]));
        // A state of another number of layers is refused.
        let mut short = last.clone();
        short.hidden.pop();
        assert!(
            layer
                .try_forward_from(&x, Some(&short), Mode::Eval)
                .is_err()
        );
    });
}

#[test]
fn dropout_is_between_layers_in_training() {
    with_seed(9, || {
        let dropped = RecurrentOptions {
            dropout: 0.5,
            ..options(2)
        };
        let layer = Gru::<Seq, C, Hidden>::with(C.of(2), Hidden.of(8), dropped);
        let x = input();
        let [first, second] = [(); 2].map(|()| layer.forward(&x, Mode::Train));
        assert!(!first.equal(&second));
        assert!(
            layer
                .forward(&x, Mode::Eval)
                .equal(&layer.forward(&x, Mode::Eval))
        );
        // Nothing is dropped before the first layer or after the last one.
        let mut all = layer.clone();
        all.dropout = 1.0;
        let (_, state) = all.forward_from(&x, None, Mode::Train);
        let (_, wanted) = layer.forward_from(&x, None, Mode::Eval);
        assert!(state.hidden[0].equal(&wanted.hidden[0]));
        assert!(state.hidden[1].abs().min(..).item() > 0.0);
    });
}

#[test]
fn states_of_pytorch_load() {
    with_seed(10, || {
        let mut layer = BiLstm::<Seq, C, Hidden, f32, Out>::projected(
            C.of(2),
            Hidden.of(4),
            Out.of(3),
            options(2),
        );
        // The sizes of `torch.nn.LSTM(2, 4, 2, bidirectional=True, proj_size=3)`.
        let mut state = Vec::new();
        for (level, inputs) in [(0, 2), (1, 6)] {
            for end in ["", "_reverse"] {
                for (name, sizes) in [
                    ("weight_ih", &[16, inputs][..]),
                    ("weight_hh", &[16, 3]),
                    ("bias_ih", &[16]),
                    ("bias_hh", &[16]),
                    ("weight_hr", &[3, 4]),
                ] {
                    state.push((
                        format!("{name}_l{level}{end}"),
                        DynTensor::randn(sizes, ()).unwrap(),
                    ));
                }
            }
        }
        assert_eq!(
            layer.paths(),
            state
                .iter()
                .map(|(path, _)| path.clone())
                .collect::<Vec<_>>()
        );
        layer.load(state.clone());
        for ((_, wanted), (_, found)) in state.iter().zip(layer.state()) {
            assert_eq!(numbers(wanted), numbers(&found));
        }
    });
}

#[test]
fn weights_of_other_dtypes_make_a_layer() {
    with_seed(11, || {
        let single = Gru::<Seq, C, Hidden>::new(C.of(2), Hidden.of(3));
        let weights = &single.first[0];
        let bias = |bias: &Option<Param<_>>| bias.as_ref().map(|bias| Param::new(bias.to::<f64>()));
        let double = RecurrentWeights {
            weight_ih: Param::new(weights.weight_ih.to::<f64>()),
            weight_hh: Param::new(weights.weight_hh.to::<f64>()),
            bias_ih: bias(&weights.bias_ih),
            bias_hh: bias(&weights.bias_hh),
            weight_hr: None,
        };
        let double = Gru::<Seq, C, Hidden, f64>::from_weights(vec![double], Vec::new());
        let x = input();
        let y = double.forward(&x.to::<f64>(), Mode::Eval).to::<f32>();
        assert!(y.allclose(&single.forward(&x, Mode::Eval)));
        let none = Gru::<Seq, C, Hidden>::from_weights(Vec::new(), Vec::new());
        assert!(none.try_forward(&x, Mode::Eval).is_err());
    });
}
