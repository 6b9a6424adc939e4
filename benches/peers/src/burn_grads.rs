//! Gradients by burn, on its backend `flex`: cases of the benchmark `grads`, in the same dtypes.

use burn_tensor::activation::{log_softmax, relu, sigmoid};
use burn_tensor::{DType, Device, Distribution, IndexingUpdateOp, Int, Tensor, TensorData};

use crate::harness::{Case, case};
use crate::inputs::{Mixture, Text, Wishart};

pub fn cases() -> Vec<Case> {
    let mixtures = Mixture::SIZES.map(|sizes| {
        let inputs = move || Given::inputs(sizes);
        model(sizes.name(), inputs, log_density)
    });
    let text = model(Text::SMALL.name(), || text(Text::SMALL), lstm_loss);
    let steps = [step(&[256, 784, 512, 10]), step(&[128, 64, 256, 256, 10])];
    mixtures.into_iter().chain([text]).chain(steps).collect()
}

type Three<const A: usize, const B: usize, const C: usize> = (Tensor<A>, Tensor<B>, Tensor<C>);

/// A case that computes a number from three leaves and constant inputs, and the gradients of the leaves.
fn model<const A: usize, const B: usize, const C: usize, G: 'static>(
    name: String,
    inputs: impl Fn() -> (Three<A, B, C>, G) + Copy + 'static,
    objective: fn(&Three<A, B, C>, &G) -> Tensor<1>,
) -> Case {
    let leaves = move || {
        let ((a, b, c), given) = inputs();
        (
            (a.require_grad(), b.require_grad(), c.require_grad()),
            given,
        )
    };
    let both_ways = case(name, leaves, move |(leaves, given)| {
        objective(leaves, given).backward()
    });
    both_ways.values(move || {
        let (leaves, given) = leaves();
        let value = objective(&leaves, &given);
        let grads = value.backward();
        let (a, b, c) = (&leaves.0, &leaves.1, &leaves.2);
        let grads = (a.grad(&grads), b.grad(&grads), c.grad(&grads));
        let (Some(a), Some(b), Some(c)) = grads else {
            panic!("a leaf has no gradient");
        };
        let all = [
            value.into_data(),
            a.into_data(),
            b.into_data(),
            c.into_data(),
        ];
        let numbers = all.map(|data| data.try_to_vec::<f64>().expect("`f64`"));
        numbers.concat()
    })
}

fn tensor<const D: usize>(numbers: Vec<f64>, shape: [usize; D]) -> Tensor<D> {
    let device = Device::flex().autodiff();
    Tensor::from_data(TensorData::new(numbers, shape), (&device, DType::F64))
}

fn places(places: impl Iterator<Item = usize>) -> Tensor<1, Int> {
    let places: Vec<i64> = places.map(|place| place as i64).collect();
    Tensor::from_data(places.as_slice(), &Device::flex().autodiff())
}

/// The constant inputs of a Gaussian mixture.
struct Given {
    sizes: Mixture,
    x: Tensor<3>,
    /// The positions in a flat inverse factor of its diagonal, and of the entries below it.
    diagonal: Tensor<1, Int>,
    below: Tensor<1, Int>,
    empty: Tensor<2>,
}

impl Given {
    fn inputs(sizes: Mixture) -> (Three<1, 2, 2>, Self) {
        let (n, d, k) = (sizes.points, sizes.dims, sizes.components);
        let [alphas, means, factors, x] = sizes.inputs();
        let leaves = (
            tensor(alphas, [k]),
            tensor(means, [k, d]),
            tensor(factors, [k, sizes.entries()]),
        );
        let below = (0..d).flat_map(|row| (0..row).map(move |column| row * d + column));
        let given = Self {
            sizes,
            x: tensor(x, [n, 1, d]),
            diagonal: places((0..d).map(|row| row * (d + 1))),
            below: places(below),
            empty: tensor(vec![0.0; k * d * d], [k, d * d]),
        };
        (leaves, given)
    }
}

/// Returns the log density of all points, plus the log prior of all inverse factors, as in `benches/grads/gmm.rs`.
fn log_density((alphas, means, factors): &Three<1, 2, 2>, given: &Given) -> Tensor<1> {
    let (n, d, k) = (given.sizes.points, given.sizes.dims, given.sizes.components);
    let log_diagonal = factors.clone().narrow(1, 0, d);
    let lower = factors.clone().narrow(1, d, given.sizes.entries() - d);
    let (diagonal, log_det) = (log_diagonal.clone().exp(), log_diagonal.sum_dim(1));

    let add = IndexingUpdateOp::Add;
    let factor = given.empty.clone();
    let factor = factor.select_assign(1, given.below.clone(), lower.clone(), add);
    let factor = factor.select_assign(1, given.diagonal.clone(), diagonal.clone(), add);
    let centred: Tensor<3> = given.x.clone() - means.clone().unsqueeze();
    let factor: Tensor<3> = factor.reshape([k, d, d]);
    let scaled = Tensor::<3>::einsum("nkd,krd->nkr", [centred.into(), factor.into()]);
    let squares: Tensor<2> = scaled.square().sum_dim(2).squeeze_dim(2);
    let logits = alphas.clone() + log_det.clone().squeeze_dim(1);
    let points = logsumexp(logits.unsqueeze() - squares * 0.5).sum()
        - logsumexp(alphas.clone().unsqueeze()).sum() * n as f64;

    let Wishart { gamma, m } = given.sizes.wishart;
    let squares = diagonal.square().sum() + lower.square().sum();
    let prior = log_det.sum() * m as f64 - squares * (0.5 * gamma * gamma);
    points + prior + given.sizes.constant()
}

/// Computes the logsumexp of each row.
fn logsumexp(x: Tensor<2>) -> Tensor<2> {
    let most = x.clone().detach().max_dim(1);
    (x - most.clone()).exp().sum_dim(1).log() + most
}

/// The text, one row per character, and the initial states.
type Told = (Tensor<2>, Tensor<2>, Tensor<2>);

fn text(sizes: Text) -> (Three<3, 3, 2>, Told) {
    let (layers, kinds) = (sizes.layers, sizes.kinds);
    let [weights, biases, ends, hidden, cell] = sizes.inputs();
    let leaves = (
        tensor(weights, [layers, 4, kinds]),
        tensor(biases, [layers, 4, kinds]),
        tensor(ends, [3, kinds]),
    );
    let text = tensor(sizes.text(), [sizes.characters, kinds]);
    let told = (
        text,
        tensor(hidden, [layers, kinds]),
        tensor(cell, [layers, kinds]),
    );
    (leaves, told)
}

/// Returns the loss of `benches/grads/lstm.rs`; vectors are rows.
fn lstm_loss((weights, biases, ends): &Three<3, 3, 2>, (text, hidden, cell): &Told) -> Tensor<1> {
    let layers = |x: &Tensor<3>| -> Vec<Tensor<2>> {
        x.clone().iter_dim(0).map(|x| x.squeeze_dim(0)).collect()
    };
    let rows = |x: &Tensor<2>| -> Vec<Tensor<2>> { x.clone().iter_dim(0).collect() };
    let (weights, biases, ends) = (layers(weights), layers(biases), rows(ends));
    let (mut hidden, mut cell) = (rows(hidden), rows(cell));
    let last = text.dims()[0] - 1;
    let scaled = text.clone().narrow(0, 0, last) * ends[0].clone();
    let mut above = Vec::with_capacity(last);
    for mut x in scaled.iter_dim(0) {
        for layer in 0..weights.len() {
            let below = hidden[layer].clone();
            let gates = Tensor::cat(vec![x.clone(), below.clone(), x, below], 0);
            let gates = gates * weights[layer].clone() + biases[layer].clone();
            let gates: [Tensor<2>; 4] = gates.chunk(4, 0).try_into().expect("four gates");
            let [forget, into, out, change] = gates;
            let kept = cell[layer].clone() * sigmoid(forget);
            cell[layer] = kept + sigmoid(into) * change.tanh();
            x = sigmoid(out) * cell[layer].clone().tanh();
            hidden[layer] = x.clone();
        }
        above.push(x);
    }
    let scores = Tensor::cat(above, 0) * ends[1].clone() + ends[2].clone();
    -(log_softmax(scores, 1) * text.clone().narrow(0, 1, last)).mean()
}

/// A gradient descent step of a perceptron with these layer sizes, in `f32`.
fn step(sizes: &'static [usize]) -> Case {
    let joined: Vec<String> = sizes.iter().map(usize::to_string).collect();
    let random = |shape: [usize; 2], by: f64| -> Tensor<2> {
        Tensor::random(
            shape,
            Distribution::Normal(0.0, by),
            &Device::flex().autodiff(),
        )
    };
    let operands = move || {
        let layers = sizes[1..].windows(2).map(|pair| {
            let weight = random([pair[0], pair[1]], 0.05).require_grad();
            (weight, random([1, pair[1]], 0.05).require_grad())
        });
        let target = (random([sizes[0], 1], 1.0).abs() * 3.0).clamp_max(9.0);
        let layers: Vec<(Tensor<2>, Tensor<2>)> = layers.collect();
        (random([sizes[0], sizes[1]], 1.0), target.int(), layers)
    };
    let name = format!("mlp_train_step/{}", joined.join("x"));
    case(name, operands, |(x, target, layers)| {
        let mut y = x.clone();
        for (at, (weight, bias)) in layers.iter().enumerate() {
            y = if at == 0 { y } else { relu(y) };
            y = y.matmul(weight.clone()) + bias.clone();
        }
        let chosen = log_softmax(y, 1).gather(1, target.clone());
        let grads = (-chosen.mean()).backward();
        for (weight, bias) in layers {
            for leaf in [weight, bias] {
                let grad = leaf.grad(&grads).expect("a leaf that counts");
                let moved = leaf.clone().inner() - grad * 0.1;
                *leaf = Tensor::from_inner(moved).require_grad();
            }
        }
    })
}
