//! Poisson's equation, `-u'' = f` between 0 and 1 with `u = 0` at both ends, by a network whose second derivative is part
//! of its loss: a physics-informed network.
//!
//! ```sh
//! cargo run --release -p nomina-examples-nn --example poisson
//! ```
//!
//! `scripts/programs/poisson.py` is the same program for PyTorch.

use std::f32::consts::PI;

use nomina::grad::grad;
use nomina::no_grad;
use nomina::prelude::*;
use nomina_nn::optim::schedule;
use nomina_nn::prelude::*;

dims! {
    /// Points between the ends.
    pub N,
    /// The coordinate of a point.
    pub X = 1,
    /// The hidden layers.
    pub Hidden,
    /// The value at a point.
    pub U = 1,
}

/// A network that is multiplied by `x (1 - x)`, which makes both ends zero.
#[derive(Module)]
pub(crate) struct Solution {
    first: Linear<X, Hidden>,
    second: Linear<Hidden, Prime<Hidden>>,
    last: Linear<Hidden, U>,
}

impl Solution {
    pub(crate) fn new(hidden: usize) -> Self {
        let hidden = Hidden.of(hidden);
        Self {
            first: Linear::new(X, hidden),
            second: Linear::new(hidden, Prime(Hidden).of(hidden.size)),
            last: Linear::new(hidden, U),
        }
    }

    pub(crate) fn value(&self, x: &Tensor<(N, X)>) -> Tensor<(N,)> {
        let hidden = self.first.forward(x).tanh();
        let hidden = self
            .second
            .forward(&hidden)
            .tanh()
            .rename(Prime(Hidden), Hidden);
        let x = x.squeeze(X);
        self.last.forward(&hidden).squeeze(U) * (&x * (1.0 - &x))
    }

    /// Returns the second derivative at each point.
    pub(crate) fn curvature(&self, x: &Tensor<(N, X)>) -> Tensor<(N,)> {
        let slope = |x: &Tensor<(N, X)>| grad(|x| self.value(x).sum(..), x);
        grad(|x| slope(x).sum(..), x).squeeze(X)
    }
}

/// Returns `f` of the solution `sin(πx) + sin(2πx) / 2`.
pub(crate) fn force(x: &Tensor<(N,)>) -> Tensor<(N,)> {
    (x * PI).sin() * PI.powi(2) + (x * (2.0 * PI)).sin() * (2.0 * PI * PI)
}

pub(crate) fn exact(x: &Tensor<(N,)>) -> Tensor<(N,)> {
    (x * PI).sin() + (x * (2.0 * PI)).sin() * 0.5
}

/// Returns points from 0 to 1.
pub(crate) fn column(points: usize) -> Tensor<(N, X)> {
    Tensor::<(N,)>::linspace(0.0, 1.0, points)
        .unsqueeze(X)
        .align_to((N, X))
}

/// Trains on a grid of points, and returns the mean squared residual before each step.
pub(crate) fn train(solution: &mut Solution, points: usize, steps: u64) -> Vec<f32> {
    let x: Tensor<(N, X)> = column(points);
    let force = force(&x.squeeze(X));
    let mut adam = Adam::new(5e-3);
    let step = |at| {
        let loss = (solution.curvature(&x) + &force).square().mean(..);
        loss.backward();
        adam.options.lr = 5e-3 * schedule::cosine(at, 0, steps);
        adam.step(solution);
        loss.item()
    };
    (0..steps).map(step).collect()
}

fn main() {
    manual_seed(3);
    let mut solution = Solution::new(24);
    let losses = train(&mut solution, 64, 1500);
    println!(
        "residual: {:.2e} at first, {:.2e} at last",
        losses[0], losses[1499]
    );
    let x = column(101);
    let found = no_grad(|| solution.value(&x));
    let error = (found - exact(&x.squeeze(X))).abs().amax(..).item();
    println!("no point is off by more than {error:.1e}");
}
