//! Optimizers: what they keep, and what they change when.

mod groups;
mod reference;

use nomina::prelude::*;
use nomina_nn::Slot;
use nomina_nn::optim::{AdamOptions, SgdOptions};
use nomina_nn::prelude::*;

dims! { N, In, Out }

fn trained(steps: usize, optimizer: &mut AdamW, model: &mut Linear<In, Out>) {
    let x = Tensor::<(N, In)>::from_vec((0..12).map(|x| x as f32 * 0.1).collect(), [4, 3]).unwrap();
    for _ in 0..steps {
        (model.forward(&x) - 1.0).square().mean(..).backward();
        optimizer.step(model);
    }
}

#[test]
fn training_goes_on_to_the_bit() {
    with_seed(3, || {
        let first = Linear::new(In.of(3), Out.of(2));
        let (mut whole, mut cut) = (first.fork(), first.fork());
        let mut optimizer = AdamW::new(0.01);
        trained(6, &mut optimizer, &mut whole);
        let mut optimizer = AdamW::new(0.01);
        trained(3, &mut optimizer, &mut cut);
        let (model, state) = (cut.state(), optimizer.state());
        let mut again = Linear::new(In.of(3), Out.of(2));
        again.load(model);
        let mut optimizer = AdamW::new(0.01);
        optimizer.load(&again, state.clone());
        trained(3, &mut optimizer, &mut again);
        assert_eq!(again.weight.to_vec(), whole.weight.to_vec());
        assert!(!first.weight.equal(&whole.weight));
        let names: Vec<&str> = state.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!(names[..3], ["bias.exp_avg", "bias.exp_avg_sq", "bias.step"]);
        assert_eq!(state[3].1.names(), &names!["Out", "In"]);
    });
}

#[test]
fn frozen_parameters_have_nothing_to_load() {
    let mut pair = (
        Linear::<In, Out>::new(In.of(3), Out.of(2)),
        Linear::<In, Out>::new(In.of(3), Out.of(2)),
    );
    pair.0.freeze();
    let x = Tensor::<(N, In)>::ones([1, 3]);
    let mut optimizer = AdamW::new(0.01);
    (pair.0.forward(&x) + pair.1.forward(&x)).sum(..).backward();
    optimizer.step(&mut pair);
    let state = optimizer.state();
    assert!(state.iter().all(|(path, _)| path.starts_with("1.")));
    assert_eq!(state[2].1.dtype(), DType::I64);
    AdamW::new(0.01).load(&pair, state);
}

#[test]
fn a_step_takes_gradients_and_leaves_the_rest() {
    let mut layer = Linear::new(In.of(2), Out.of(1));
    let before = layer.weight.to_vec();
    let mut sgd = Sgd::new(0.5);
    sgd.step(&mut layer);
    assert_eq!(layer.weight.to_vec(), before);
    layer.weight.sum(..).backward();
    let leaf = layer.weight.clone();
    sgd.step(&mut layer);
    assert_eq!(layer.weight.to_vec(), [before[0] - 0.5, before[1] - 0.5]);
    // A clone has the elements that it had, and is the same leaf.
    assert_eq!(leaf.to_vec(), before);
    assert!(layer.weight.grad().is_none() && layer.weight.requires_grad());
    leaf.sum(..).backward();
    assert!(layer.weight.grad().is_some());
    assert!(sgd.state().is_empty());
}

#[test]
fn files_have_momentum_by_path() {
    let mut layer = Linear::without_bias(In.of(1), Out.of(1));
    let before = layer.weight.sum(..).item();
    let mut sgd = Sgd::with(SgdOptions {
        lr: 1.0,
        momentum: 0.5,
        ..SgdOptions::default()
    });
    for _ in 0..2 {
        layer.weight.sum(..).backward();
        sgd.step(&mut layer);
    }
    assert!((before - layer.weight.sum(..).item() - 2.5).abs() < 1e-6);
    assert_eq!(sgd.state()[0].0, "weight.momentum_buffer");
}

#[test]
fn gradients_are_clipped_together() {
    let mut layer = Linear::new(In.of(2), Out.of(1));
    layer.weight.set_grad(&tensor!([[3., 0.]]; Out, In));
    layer.bias.as_ref().unwrap().set_grad(&tensor!([4.]; Out));
    assert_eq!(clip_grad_norm(&layer, 10.0), 5.0);
    assert_eq!(layer.weight.grad().unwrap().to_vec(), [3.0, 0.0]);
    assert_eq!(clip_grad_norm(&layer, 1.0), 5.0);
    let close = |found: f32, wanted: f32| (found - wanted).abs() < 1e-5;
    assert!(close(layer.weight.grad().unwrap().to_vec()[0], 0.6));
    layer.freeze();
    assert_eq!(clip_grad_norm(&layer, 1.0), 0.0);
}

#[test]
fn another_model_starts_anew_under_the_same_paths() {
    let mut adam = Adam::with(AdamOptions::adam());
    let mut layer = Linear::without_bias(In.of(2), Out.of(1));
    layer.weight.sum(..).backward();
    adam.step(&mut layer);
    let mut other = Linear::without_bias(In.of(3), Out.of(1));
    other.weight.sum(..).backward();
    adam.step(&mut other);
    layer.weight.sum(..).backward();
    adam.step(&mut layer);
    let steps = |state: Vec<(String, DynTensor)>| state[2].1.to_vec::<i64>().unwrap();
    assert_eq!(steps(adam.state_of(&layer)), [2]);
    assert_eq!(steps(adam.state_of(&other)), [1]);
    // Under one path there is the model that was stepped last.
    assert_eq!(steps(adam.state()), [2]);
}

type Stack = Vec<Linear<In, Out>>;

fn stack(count: usize) -> Stack {
    (0..count)
        .map(|_| Linear::without_bias(In.of(1), Out.of(1)))
        .collect()
}

fn momentum() -> Sgd {
    Sgd::with(SgdOptions {
        lr: 1.0,
        momentum: 0.5,
        ..SgdOptions::default()
    })
}

/// Steps each layer with a gradient, and says how far each one went.
fn stepped(sgd: &mut Sgd, layers: &mut Stack, grads: &[f32]) -> Vec<f32> {
    let before: Vec<f32> = layers
        .iter()
        .map(|layer| layer.weight.sum(..).item())
        .collect();
    for (layer, &grad) in layers.iter().zip(grads) {
        layer.weight.set_grad(&tensor!([[grad]]; Out, In));
    }
    sgd.step(layers);
    let after = layers.iter().map(|layer| layer.weight.sum(..).item());
    let gone = before.into_iter().zip(after);
    gone.map(|(before, after)| ((before - after) * 10_000.0).round() / 10_000.0)
        .collect()
}

#[test]
fn momentum_goes_with_its_parameter() {
    let (mut layers, mut sgd) = (stack(3), momentum());
    assert_eq!(stepped(&mut sgd, &mut layers, &[1., 2., 4.]), [1., 2., 4.]);
    layers.remove(1);
    assert_eq!(stepped(&mut sgd, &mut layers, &[0., 0.]), [0.5, 2.]);
    layers.insert(0, stack(1).remove(0));
    assert_eq!(stepped(&mut sgd, &mut layers, &[0.; 3]), [0., 0.25, 1.]);
    layers.swap(1, 2);
    assert_eq!(stepped(&mut sgd, &mut layers, &[0.; 3]), [0., 0.5, 0.125]);
    // State of a dropped parameter is gone, and paths are those of the model.
    layers.remove(0);
    assert_eq!(sgd.state_of(&layers)[0].0, "0.weight.momentum_buffer");
    assert_eq!(sgd.state_of(&layers)[0].1.item().unwrap().to_f64(), 0.5);
    assert_eq!(sgd.state().len(), 2 * 2);
    let state = sgd.state_of(&layers);
    let mut again = momentum();
    let text = again
        .try_load(&layers, [state[0].clone()])
        .unwrap_err()
        .to_string();
    assert!(text.contains("the state lacks `0.weight.step`"), "{text}");
    again.load(&layers, state);
    layers.swap(0, 1);
    assert_eq!(stepped(&mut again, &mut layers, &[0.; 2]), [0.0625, 0.25]);
}

#[test]
fn momentum_outlasts_what_a_model_does_with_its_tensors() {
    let (mut layers, mut sgd) = (stack(1), momentum());
    stepped(&mut sgd, &mut layers, &[8.]);
    let state = layers.state();
    layers.load(state);
    assert_eq!(stepped(&mut sgd, &mut layers, &[0.]), [4.]);
    layers.to_device(Device::Cpu);
    assert_eq!(stepped(&mut sgd, &mut layers, &[0.]), [2.]);
    layers.freeze();
    sgd.step(&mut layers);
    layers.unfreeze();
    assert_eq!(stepped(&mut sgd, &mut layers, &[0.]), [1.]);
    // A fork is new, and the model goes on beside it.
    let mut fork = layers.fork();
    assert_eq!(stepped(&mut sgd, &mut fork, &[1.]), [1.]);
    assert_eq!(stepped(&mut sgd, &mut layers, &[0.]), [0.5]);
    let identity = |layers: &Stack| layers[0].weight.identity().cloned();
    assert_eq!(identity(&layers), identity(&layers.clone()));
    assert_ne!(identity(&layers), identity(&fork));
}

#[test]
fn clones_in_one_model_have_a_state_each() {
    let one = Linear::<In, Out>::without_bias(In.of(1), Out.of(1));
    let (mut layers, mut sgd) = (vec![one.clone(), one], momentum());
    assert_eq!(stepped(&mut sgd, &mut layers, &[2.]), [2., 2.]);
    assert_eq!(sgd.state().len(), 2 * 2);
    assert_eq!(stepped(&mut sgd, &mut layers, &[0.]), [1., 1.]);
}
