//! The models of the gradient benchmarks: their values against loops, and their gradients against differences.

use nomina::grad::value_and_grad;
use nomina::prelude::*;

#[path = "../benches/grads/gmm.rs"]
mod gmm;
// The file also has the benchmark's sizes and names.
#[allow(dead_code)]
#[path = "../benches/grads/inputs.rs"]
mod inputs;
#[path = "../benches/grads/lstm.rs"]
mod lstm;

use inputs::{Mixture, Text, Wishart};

const MIXTURE: Mixture = Mixture {
    points: 7,
    dims: 3,
    components: 2,
    wishart: Wishart { gamma: 0.7, m: 2 },
};

const TEXT: Text = Text {
    layers: 2,
    characters: 6,
    kinds: 3,
};

fn close(found: f64, wanted: f64, within: f64) {
    let far = (found - wanted).abs();
    assert!(
        far <= within * wanted.abs().max(1.0),
        "{found}, not {wanted}"
    );
}

/// Compares a gradient with central differences of `value` along each element of the parameter.
fn close_to_differences(grad: &[f64], at: &[f64], value: impl Fn(Vec<f64>) -> f64) {
    const STEP: f64 = 1e-5;
    assert_eq!(grad.len(), at.len());
    for (i, &slope) in grad.iter().enumerate() {
        let moved = |by: f64| {
            let mut numbers = at.to_vec();
            numbers[i] += by;
            value(numbers)
        };
        close(slope, (moved(STEP) - moved(-STEP)) / (2.0 * STEP), 1e-7);
    }
}

fn logsumexp(x: impl Iterator<Item = f64>) -> f64 {
    x.map(f64::exp).sum::<f64>().ln()
}

/// Computes the density of a mixture, component by component and point by point.
fn density_by_loops(sizes: &Mixture, [alphas, means, factors]: [&[f64]; 3], x: &[f64]) -> f64 {
    let (d, Wishart { gamma, m }) = (sizes.dims, sizes.wishart);
    let mut total = sizes.constant();
    let entries = |k: usize| &factors[k * sizes.entries()..][..sizes.entries()];
    let log_det = |k: usize| entries(k)[..d].iter().sum::<f64>();
    let factor = |k: usize, row: usize, column: usize| match row.cmp(&column) {
        std::cmp::Ordering::Less => 0.0,
        std::cmp::Ordering::Equal => entries(k)[row].exp(),
        std::cmp::Ordering::Greater => entries(k)[d + row * (row - 1) / 2 + column],
    };
    for point in x.chunks(d) {
        total += logsumexp((0..sizes.components).map(|k| {
            let scaled = |row| -> f64 {
                let terms = (0..d).map(|c| factor(k, row, c) * (point[c] - means[k * d + c]));
                terms.sum()
            };
            let square: f64 = (0..d).map(|row| scaled(row).powi(2)).sum();
            alphas[k] + log_det(k) - 0.5 * square
        }));
        total -= logsumexp(alphas.iter().copied());
    }
    for k in 0..sizes.components {
        let cells = (0..d * d).map(|cell| factor(k, cell / d, cell % d));
        let squares: f64 = cells.map(|entry| entry * entry).sum();
        total += m as f64 * log_det(k) - 0.5 * gamma * gamma * squares;
    }
    total
}

#[test]
fn a_mixture_by_loops_and_differences() {
    let ((alphas, means, factors), given) = gmm::inputs(&MIXTURE).unwrap();
    let (value, (da, dm, df)) = value_and_grad(
        |(alphas, means, factors)| gmm::log_density(alphas, means, factors, &given),
        (&alphas, &means, &factors),
    );
    let [a, m, f, x] = MIXTURE.inputs();
    let loops = |a: &[f64], m: &[f64], f: &[f64]| density_by_loops(&MIXTURE, [a, m, f], &x);
    close(value.item(), loops(&a, &m, &f), 1e-12);
    close_to_differences(&da.to_vec(), &a, |a| loops(&a, &m, &f));
    close_to_differences(&dm.to_vec(), &m, |m| loops(&a, &m, &f));
    close_to_differences(&df.to_vec(), &f, |f| loops(&a, &m, &f));
}

#[test]
fn the_constant_of_a_density_has_the_gamma_function_of_matrices() {
    let (d, freedom) = (3_i64, 6.0_f64);
    let multigamma = Tensor::<(), f64>::full((), freedom / 2.0)
        .mvlgamma(d)
        .item();
    let prior = freedom * 3.0 * (0.7 / 2.0_f64.sqrt()).ln() - multigamma;
    let wanted = 2.0 * prior - 0.5 * 7.0 * 3.0 * std::f64::consts::TAU.ln();
    close(MIXTURE.constant(), wanted, 1e-12);
}

/// Computes the loss of a text, one state after the other.
fn loss_by_loops(sizes: &Text, [weights, biases, ends]: [&[f64]; 3]) -> f64 {
    let (kinds, text) = (sizes.kinds, sizes.text());
    let [.., mut hidden, mut cell] = sizes.inputs();
    let logistic = |x: f64| 1.0 / (1.0 + (-x).exp());
    let mut total = 0.0;
    for now in 0..sizes.characters - 1 {
        let mut x: Vec<f64> = (0..kinds)
            .map(|i| text[now * kinds + i] * ends[i])
            .collect();
        for layer in 0..sizes.layers {
            for i in 0..kinds {
                let (state, of) = (layer * kinds + i, |gate| (layer * 4 + gate) * kinds + i);
                let gate = |gate, x: f64| x * weights[of(gate)] + biases[of(gate)];
                let (forget, out) = (logistic(gate(0, x[i])), logistic(gate(2, x[i])));
                let (into, change) = (gate(1, hidden[state]), gate(3, hidden[state]));
                cell[state] = cell[state] * forget + logistic(into) * change.tanh();
                hidden[state] = out * cell[state].tanh();
                x[i] = hidden[state];
            }
        }
        let scores = (0..kinds).map(|i| x[i] * ends[kinds + i] + ends[2 * kinds + i]);
        let all = logsumexp(scores.clone());
        let next = &text[(now + 1) * kinds..];
        total += scores
            .zip(next)
            .map(|(s, one)| (s - all) * one)
            .sum::<f64>();
    }
    -total / ((sizes.characters - 1) * kinds) as f64
}

#[test]
fn an_lstm_by_loops_and_differences() {
    let ((weights, biases, ends), given) = lstm::inputs(&TEXT).unwrap();
    let (value, (dw, db, de)) = value_and_grad(
        |(weights, biases, ends)| lstm::loss(weights, biases, ends, &given),
        (&weights, &biases, &ends),
    );
    let [w, b, e, ..] = TEXT.inputs();
    let loops = |w: &[f64], b: &[f64], e: &[f64]| loss_by_loops(&TEXT, [w, b, e]);
    close(value.item(), loops(&w, &b, &e), 1e-12);
    close_to_differences(&dw.to_vec(), &w, |w| loops(&w, &b, &e));
    close_to_differences(&db.to_vec(), &b, |b| loops(&w, &b, &e));
    close_to_differences(&de.to_vec(), &e, |e| loops(&w, &b, &e));
}
