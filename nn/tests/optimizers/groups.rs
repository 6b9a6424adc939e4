//! Groups, averages and accumulated gradients.

use nomina::prelude::*;
use nomina_nn::optim::{Accumulation, Ema, RmsPropOptions, SgdOptions, is_bias_or_norm};
use nomina_nn::prelude::*;

dims! { N, In, Out }

type Pair = (Linear<In, Out>, Linear<In, Out>);

fn pair() -> Pair {
    (
        Linear::new(In.of(2), Out.of(2)),
        Linear::new(In.of(2), Out.of(2)),
    )
}

fn backward(pair: &Pair) {
    let x = Tensor::<(N, In)>::ones([3, 2]);
    (pair.0.forward(&x) * pair.1.forward(&x) - 1.0)
        .square()
        .mean(..)
        .backward();
}

#[test]
fn each_group_steps_as_alone() {
    let mut model = pair();
    let mut alone = model.fork();
    let mut both = Sgd::new(0.1).group_at("1", |options| {
        options.lr *= 0.5;
        options.momentum = 0.9;
    });
    let mut first = Sgd::new(0.1);
    let mut second = Sgd::with(SgdOptions {
        lr: 0.05,
        momentum: 0.9,
        ..SgdOptions::default()
    });
    for _ in 0..4 {
        backward(&model);
        both.step(&mut model);
        backward(&alone);
        first.step(&mut alone.0);
        second.step(&mut alone.1);
    }
    for ((path, found), (_, wanted)) in model.state().iter().zip(alone.state()) {
        assert!(found.equal(&wanted).unwrap(), "{path}");
    }
    let names: Vec<String> = both.state().into_iter().map(|(path, _)| path).collect();
    let wanted = [
        "1.bias.momentum_buffer",
        "1.bias.step",
        "1.weight.momentum_buffer",
        "1.weight.step",
    ];
    assert_eq!(names, wanted);
}

#[test]
fn no_decay_of_biases_in_one_line() {
    let mut model = pair();
    let mut adamw = AdamW::new(0.1).group(is_bias_or_norm, |options| options.weight_decay = 0.0);
    for (_, param) in model.params() {
        param.set_grad(&param.mul(0.0).unwrap().detach()).unwrap();
    }
    let before = model.fork();
    adamw.step(&mut model);
    assert!(
        model
            .0
            .bias
            .as_ref()
            .unwrap()
            .equal(before.0.bias.as_ref().unwrap())
    );
    assert!(!model.0.weight.equal(&before.0.weight));
}

/// Steps to the bit after saving and loading, with groups of different state.
#[test]
fn state_of_groups_is_saved() {
    let optimizer = || {
        let options = RmsPropOptions {
            momentum: 0.5,
            ..RmsPropOptions::default()
        };
        RmsProp::with(options)
            .group_at("0", |options| options.centered = true)
            .group_at("*.bias", |options| options.momentum = 0.0)
    };
    let mut whole = pair();
    let mut cut = whole.fork();
    let (mut one, mut other) = (optimizer(), optimizer());
    for step in 0..6 {
        backward(&whole);
        one.step(&mut whole);
        if step == 3 {
            let state = other.state();
            other = optimizer();
            other.load(&cut, state);
        }
        backward(&cut);
        other.step(&mut cut);
    }
    assert_eq!(whole.0.weight.to_vec(), cut.0.weight.to_vec());
    assert_eq!(whole.1.weight.to_vec(), cut.1.weight.to_vec());
}

#[test]
fn options_with_other_state_keep_the_rest() {
    let mut w = Param::new(tensor!([1.0]; N));
    let mut rmsprop = RmsProp::new(0.1);
    for momentum in [0.0, 0.9, 0.0] {
        rmsprop.options.momentum = momentum;
        w.set_grad(&tensor!([1.0]; N));
        rmsprop.step(&mut w);
    }
    let state = rmsprop.state();
    assert_eq!(state.last().unwrap().1.to_vec::<i64>().unwrap(), [3]);
    assert_eq!(state.len(), 3);
}

#[test]
fn averages_follow_the_weights() {
    let mut model = pair();
    let mut ema = Ema::new(&model, 0.9);
    let mut wanted = model.0.weight.to_vec();
    for step in 0..5 {
        backward(&model);
        Sgd::new(0.1).step(&mut model);
        ema.update(&model);
        for (wanted, new) in wanted.iter_mut().zip(model.0.weight.to_vec()) {
            *wanted = if step == 0 {
                new
            } else {
                0.9 * *wanted + 0.1 * new
            };
        }
    }
    for (found, wanted) in ema.model.0.weight.to_vec().iter().zip(&wanted) {
        assert!((found - wanted).abs() < 1e-6);
    }
    let state = ema.state();
    let mut again = Ema::new(&model, 0.9);
    again.load(state);
    assert_eq!(
        (again.updates, again.model.0.weight.to_vec()),
        (5, ema.model.0.weight.to_vec())
    );
    assert!(!model.0.weight.equal(&ema.model.0.weight));
}

#[test]
fn small_batches_add_up_to_a_large_one() {
    let layer = Linear::new(In.of(2), Out.of(1));
    let x = Tensor::<(N, In)>::randn([12, 2]);
    let loss = |from: usize, rows: usize| {
        layer
            .forward(&x.narrow(N, from..from + rows))
            .square()
            .mean(..)
    };
    let grads = |rows: usize| {
        loss(0, rows).backward();
        layer.weight.take_grad().unwrap().to_vec()
    };
    let (four, two) = (grads(12), grads(6));
    let close = |found: Vec<f32>, wanted: &[f32]| {
        found.iter().zip(wanted).all(|(x, y)| (x - y).abs() < 1e-5)
    };
    let mut accumulation = Accumulation::new(4);
    let ready: Vec<bool> = (0..4)
        .map(|at| accumulation.backward(loss(3 * at, 3)))
        .collect();
    assert_eq!(ready, [false, false, false, true]);
    assert!(
        close(layer.weight.take_grad().unwrap().to_vec(), &four) && !accumulation.finish(&layer)
    );
    let early: Vec<bool> = (0..2)
        .map(|at| accumulation.backward(loss(3 * at, 3)))
        .collect();
    assert_eq!(early, [false, false]);
    assert!(accumulation.finish(&layer));
    assert!(close(layer.weight.grad().unwrap().to_vec(), &two));
}
