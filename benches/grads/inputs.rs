//! The initial numbers of the models and their sizes; `scripts/bench/torch_grads.py` computes the same ones.

/// Returns `count` numbers between -1 and 1, from a polynomial modulo a prime: exact, and therefore equal in every
/// language.
pub fn numbers(stream: u64, count: usize) -> Vec<f64> {
    let terms = (0..count as u64).map(|i| term(i + 100_003 * stream));
    terms.map(|term| term as f64 / 5003.0 - 1.0).collect()
}

fn term(i: u64) -> u64 {
    (31 * i * i + 7919 * i) % 10_007
}

/// A Wishart prior over precision matrices.
#[derive(Clone, Copy)]
pub struct Wishart {
    pub gamma: f64,
    /// The degrees of freedom minus the dims minus one.
    pub m: usize,
}

/// The sizes of a Gaussian mixture: points, dims and components.
#[derive(Clone, Copy)]
pub struct Mixture {
    pub points: usize,
    pub dims: usize,
    pub components: usize,
    pub wishart: Wishart,
}

impl Mixture {
    /// ADBench's sizes, with its prior.
    pub const SIZES: [Self; 2] = [Self::of(1000, 10, 25), Self::of(1000, 32, 25)];

    const fn of(points: usize, dims: usize, components: usize) -> Self {
        Self {
            points,
            dims,
            components,
            wishart: Wishart { gamma: 1.0, m: 0 },
        }
    }

    pub fn name(&self) -> String {
        format!("gmm_{}x{}x{}", self.points, self.dims, self.components)
    }

    /// Returns the number of parameters of a component's inverse factor: the diagonal, and the entries below.
    pub fn entries(&self) -> usize {
        self.dims * (self.dims + 1) / 2
    }

    /// Returns the logarithms of the weights, the means, the inverse factors, and the points.
    pub fn inputs(&self) -> [Vec<f64>; 4] {
        let &Self {
            points,
            dims,
            components,
            ..
        } = self;
        let factors = numbers(2, components * self.entries());
        [
            numbers(0, components),
            numbers(1, components * dims),
            factors.iter().map(|entry| entry * 0.3).collect(),
            numbers(3, points * dims),
        ]
    }

    /// Returns the terms of the log density that do not depend on the parameters.
    pub fn constant(&self) -> f64 {
        let Wishart { gamma, m } = self.wishart;
        let (p, freedom) = (self.dims as f64, self.dims + m + 1);
        let gammas = (0..self.dims).map(|j| log_gamma_of_half(freedom - j));
        let multigamma = p * (p - 1.0) / 4.0 * std::f64::consts::PI.ln() + gammas.sum::<f64>();
        let prior = freedom as f64 * p * (gamma / std::f64::consts::SQRT_2).ln() - multigamma;
        let points = -0.5 * self.points as f64 * p * std::f64::consts::TAU.ln();
        points + self.components as f64 * prior
    }
}

/// Returns log Γ(n / 2), for n from 1.
fn log_gamma_of_half(n: usize) -> f64 {
    let (first, start) = match n % 2 {
        0 => (2, 0.0),
        _ => (1, 0.5 * std::f64::consts::PI.ln()),
    };
    let factors = (first..n).step_by(2).map(|j| (j as f64 / 2.0).ln());
    start + factors.sum::<f64>()
}

/// The layers, the characters of the text, and the alphabet size, which is also the size of a state.
#[derive(Clone, Copy)]
pub struct Text {
    pub layers: usize,
    pub characters: usize,
    pub kinds: usize,
}

impl Text {
    /// ADBench's smallest model.
    pub const SMALL: Self = Self {
        layers: 2,
        characters: 1024,
        kinds: 14,
    };

    pub fn name(&self) -> String {
        format!("lstm_{}x{}", self.layers, self.characters)
    }

    /// Returns weights and biases of the gates by layer, those of the input and output; hidden and cell states by
    /// layer.
    pub fn inputs(&self) -> [Vec<f64>; 5] {
        let states = self.layers * self.kinds;
        [
            numbers(0, 4 * states),
            numbers(1, 4 * states),
            numbers(2, 3 * self.kinds),
            numbers(3, states),
            numbers(4, states),
        ]
    }

    /// Returns the text in one-hot encoding, one row per character.
    pub fn text(&self) -> Vec<f64> {
        let kinds = (0..self.characters as u64).map(|i| term(i) as usize % self.kinds);
        let row = |kind| (0..self.kinds).map(move |at| f64::from(u8::from(at == kind)));
        kinds.flat_map(row).collect()
    }
}
