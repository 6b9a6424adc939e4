//! Layers in plain loops of `f64`, and gradients by differences of them.

use std::collections::BTreeMap;

use nomina::prelude::*;
use nomina_nn::prelude::*;

/// Elements of each tensor by its path.
pub type State = BTreeMap<String, Vec<f64>>;

pub fn numbers(x: &DynTensor) -> Vec<f64> {
    x.to_dtype(DType::F64).unwrap().to_vec::<f64>().unwrap()
}

pub fn state_of(module: &impl Module) -> State {
    let state = module.state().into_iter();
    state.map(|(path, x)| (path, numbers(&x))).collect()
}

/// Coefficients of either sign, of which a loss is the sum of products.
pub fn coefficient(at: usize) -> f64 {
    (1.0 + at as f64 * 0.7).sin()
}

pub fn weighted(x: &[f64]) -> f64 {
    x.iter()
        .enumerate()
        .map(|(at, x)| coefficient(at) * x)
        .sum()
}

/// Returns the same sum of a tensor, with gradients.
pub fn weighted_sum<D: Dims + nomina::dims::Distinct>(x: &Tensor<D>) -> Tensor<()> {
    let coefficients: Vec<f32> = (0..x.numel()).map(|at| coefficient(at) as f32).collect();
    let coefficients = DynTensor::from_vec(coefficients, x.to_dyn().shape(), ()).unwrap();
    let names = x.to_dyn().names().clone();
    let coefficients = DynTensor::from_parts(coefficients.into_parts().0, names).unwrap();
    let sum = x.to_dyn().mul(&coefficients).unwrap().sum(..).unwrap();
    sum.typed().unwrap()
}

pub fn assert_close(found: &[f64], wanted: &[f64], bound: f64, what: &str) {
    assert_eq!(found.len(), wanted.len(), "{what}");
    for (at, (found, wanted)) in found.iter().zip(wanted).enumerate() {
        let far = (found - wanted).abs() > bound * (1.0 + wanted.abs());
        assert!(
            !far && !found.is_nan(),
            "{what}, element {at}: {found} instead of {wanted}"
        );
    }
}

/// Compares the gradients of all parameters with differences of `loss`.
pub fn check_gradients(module: &impl Module, loss: impl Fn(&State) -> f64) {
    const STEP: f64 = 1e-5;
    let mut state = state_of(module);
    for (path, param) in module.params() {
        let grad = numbers(
            &param
                .grad()
                .unwrap_or_else(|| panic!("`{path}` has no gradient")),
        );
        let mut wanted = Vec::new();
        for at in 0..grad.len() {
            let own = state[&path][at];
            let mut moved = |to: f64| {
                state.get_mut(&path).unwrap()[at] = to;
                loss(&state)
            };
            let (more, less) = (moved(own + STEP), moved(own - STEP));
            moved(own);
            wanted.push((more - less) / (2.0 * STEP));
        }
        assert_close(&grad, &wanted, 2e-4, &path);
    }
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// The kind of a recurrent layer.
#[derive(Clone, Copy, PartialEq)]
pub enum Kind {
    Tanh,
    Relu,
    Lstm,
    Gru,
}

/// A recurrent layer over a batch of dims (N, Seq, C).
pub struct Recurrence<'a> {
    pub kind: Kind,
    pub layers: usize,
    pub directions: usize,
    pub inputs: usize,
    pub states: usize,
    pub x: &'a [f64],
    pub len: usize,
    pub lengths: &'a [usize],
}

/// Outputs along (N, Seq, Direction, Out), states along (N, Direction, Out) and cells, by layer.
pub struct Found {
    pub outputs: Vec<f64>,
    pub hidden: Vec<Vec<f64>>,
    pub cell: Vec<Vec<f64>>,
}

impl Recurrence<'_> {
    /// Returns a row of products of a matrix, plus a bias.
    fn product(state: &State, weight: &str, bias: &str, x: &[f64]) -> Vec<f64> {
        let weight = &state[weight];
        let rows = weight
            .chunks(x.len())
            .map(|row| row.iter().zip(x).map(|(w, x)| w * x).sum());
        let mut rows: Vec<f64> = rows.collect();
        if let Some(bias) = state.get(bias) {
            rows.iter_mut()
                .zip(bias)
                .for_each(|(row, bias)| *row += bias);
        }
        rows
    }

    fn step(
        &self,
        state: &State,
        end: &str,
        x: &[f64],
        hidden: &[f64],
        cell: &[f64],
    ) -> [Vec<f64>; 2] {
        let name = |part: &str| format!("{part}{end}");
        let own = Self::product(state, &name("weight_hh"), &name("bias_hh"), hidden);
        let next = Self::product(state, &name("weight_ih"), &name("bias_ih"), x);
        let n = self.states;
        let sum = |gate: usize, i: usize| next[gate * n + i] + own[gate * n + i];
        let (mut h, mut c) = (Vec::new(), Vec::new());
        for i in 0..n {
            match self.kind {
                Kind::Tanh => h.push(sum(0, i).tanh()),
                Kind::Relu => h.push(sum(0, i).max(0.0)),
                Kind::Lstm => {
                    let kept = sigmoid(sum(1, i)) * cell[i] + sigmoid(sum(0, i)) * sum(2, i).tanh();
                    c.push(kept);
                    h.push(sigmoid(sum(3, i)) * kept.tanh());
                }
                Kind::Gru => {
                    let (r, z) = (sigmoid(sum(0, i)), sigmoid(sum(1, i)));
                    let new = (next[2 * n + i] + r * own[2 * n + i]).tanh();
                    h.push((1.0 - z) * new + z * hidden[i]);
                }
            }
        }
        if state.contains_key(&name("weight_hr")) {
            h = Self::product(state, &name("weight_hr"), "", &h);
        }
        [h, c]
    }

    pub fn run(&self, state: &State) -> Found {
        let (batch, len) = (self.lengths.len(), self.len);
        let mut x: Vec<f64> = self.x.to_vec();
        let mut inputs = self.inputs;
        let mut found = Found {
            outputs: Vec::new(),
            hidden: Vec::new(),
            cell: Vec::new(),
        };
        for layer in 0..self.layers {
            let width = match state.get(&format!("weight_hr_l{layer}")) {
                Some(projection) => projection.len() / self.states,
                None => self.states,
            };
            let wide = self.directions * width;
            let mut y = vec![0.0; batch * len * wide];
            let (mut hiddens, mut cells) = (Vec::new(), Vec::new());
            for n in 0..batch {
                for direction in 0..self.directions {
                    let end = format!("_l{layer}{}", ["", "_reverse"][direction]);
                    let (mut h, mut c) = (vec![0.0; width], vec![0.0; self.states]);
                    for step in 0..self.lengths[n] {
                        let at = if direction == 0 {
                            step
                        } else {
                            self.lengths[n] - 1 - step
                        };
                        let row = &x[(n * len + at) * inputs..][..inputs];
                        [h, c] = self.step(state, &end, row, &h, &c);
                        y[(n * len + at) * wide + direction * width..][..width].copy_from_slice(&h);
                        if self.kind != Kind::Lstm {
                            c = vec![0.0; self.states];
                        }
                    }
                    hiddens.extend(h);
                    cells.extend(c);
                }
            }
            found.hidden.push(hiddens);
            found.cell.push(cells);
            (x, inputs) = (y, wide);
        }
        found.outputs = x;
        found
    }
}
