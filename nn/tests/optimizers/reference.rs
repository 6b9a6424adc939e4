//! 50 steps of each optimizer beside PyTorch's documented algorithm, written here in plain f64.

use nomina::prelude::*;
use nomina_nn::optim::{
    AdagradOptions, AdjustLr, LbfgsOptions, LionOptions, MuonOptions, Optimizer, RmsPropOptions,
    Rule, SgdOptions,
};
use nomina_nn::prelude::*;

dims! { Row, Column }

const STEPS: usize = 50;
const START: [f64; 6] = [0.9, -1.3, 0.4, 2.1, -0.2, 0.7];
const PULL: [f64; 6] = [1.0, 0.5, 2.0, 0.1, 3.0, 1.5];

/// The gradient of the sum of `PULL * p^2 / 2 - cos(p)`.
fn grad(at: usize, p: f64) -> f64 {
    PULL[at] * p + p.sin()
}

fn loss<T: Float>(w: &Tensor<(Row, Column), T>) -> Tensor<(), T> {
    let pull = Tensor::<(Row, Column), f64>::from_vec(PULL.to_vec(), [2, 3])
        .unwrap()
        .to::<T>();
    (w.square() * pull * 0.5 - w.cos()).sum(..)
}

/// Steps a matrix in `T`.
fn stepped<R: Rule, T: Float>(optimizer: &mut Optimizer<R>) -> Vec<f64> {
    let start = Tensor::<(Row, Column), f64>::from_vec(START.to_vec(), [2, 3]).unwrap();
    let mut w = Param::new(start.to::<T>());
    for _ in 0..STEPS {
        loss(&w).backward();
        optimizer.step(&mut w);
    }
    w.to::<f64>().to_vec()
}

/// Steps each element by a reference, which is given the step, the parameter, the gradient and three numbers of state.
fn by_hand(step: impl Fn(i32, &mut f64, f64, &mut [f64; 3])) -> Vec<f64> {
    let all = START.iter().enumerate().map(|(at, &start)| {
        let (mut p, mut state) = (start, [0.0; 3]);
        for n in 1..=STEPS {
            let g = grad(at, p);
            step(n as i32, &mut p, g, &mut state);
        }
        p
    });
    all.collect()
}

#[track_caller]
fn compare<R: Rule>(options: R::Options, wanted: &[f64]) {
    for (found, limit) in [
        (
            stepped::<R, f64>(&mut Optimizer::with(options.clone())),
            1e-12,
        ),
        (
            stepped::<R, f32>(&mut Optimizer::with(options.clone())),
            2e-5,
        ),
    ] {
        for (found, wanted) in found.iter().zip(wanted) {
            assert!(
                (found - wanted).abs() < limit,
                "{options:?}: {found}, not {wanted}"
            );
        }
    }
}

#[test]
fn sgd() {
    for (momentum, dampening, nesterov) in [(0.0, 0.0, false), (0.9, 0.3, false), (0.9, 0.0, true)]
    {
        for grad_scale in [1.0, 0.5] {
            let options = SgdOptions {
                lr: 0.02,
                momentum,
                dampening,
                nesterov,
                weight_decay: 0.1,
                grad_scale,
            };
            let wanted = by_hand(|n, p, g, state| {
                let mut g = grad_scale * g + 0.1 * *p;
                if momentum != 0.0 {
                    state[0] = if n == 1 {
                        g
                    } else {
                        momentum * state[0] + (1.0 - dampening) * g
                    };
                    g = if nesterov {
                        g + momentum * state[0]
                    } else {
                        state[0]
                    };
                }
                *p -= 0.02 * g;
            });
            compare::<nomina_nn::optim::rule::Sgd>(options, &wanted);
        }
    }
}

#[test]
fn rmsprop() {
    for (momentum, centered) in [(0.0, false), (0.9, false), (0.0, true), (0.9, true)] {
        let options = RmsPropOptions {
            alpha: 0.9,
            momentum,
            centered,
            weight_decay: 0.1,
            ..RmsPropOptions::default()
        };
        let wanted = by_hand(|_, p, g, [square, mean, sum]| {
            let g = g + 0.1 * *p;
            *square = 0.9 * *square + 0.1 * g * g;
            let mut power = *square;
            if centered {
                *mean += 0.1 * (g - *mean);
                power -= *mean * *mean;
            }
            let way = g / (power.sqrt() + 1e-8);
            *sum = momentum * *sum + way;
            *p -= 0.01 * *sum;
        });
        compare::<nomina_nn::optim::rule::RmsProp>(options, &wanted);
    }
}

#[test]
fn adagrad() {
    let options = AdagradOptions {
        lr: 0.1,
        lr_decay: 0.05,
        weight_decay: 0.1,
        initial_accumulator_value: 0.2,
        ..AdagradOptions::default()
    };
    let wanted = by_hand(|n, p, g, state| {
        if n == 1 {
            state[0] = 0.2;
        }
        let g = g + 0.1 * *p;
        state[0] += g * g;
        *p -= 0.1 / (1.0 + f64::from(n - 1) * 0.05) * g / (state[0].sqrt() + 1e-10);
    });
    compare::<nomina_nn::optim::rule::Adagrad>(options, &wanted);
}

#[test]
fn lion() {
    let options = LionOptions {
        lr: 0.003,
        weight_decay: 0.1,
        ..LionOptions::default()
    };
    let wanted = by_hand(|_, p, g, state| {
        *p *= 1.0 - 0.003 * 0.1;
        let update = 0.9 * state[0] + 0.1 * g;
        *p -= 0.003 * if update == 0.0 { 0.0 } else { update.signum() };
        state[0] = 0.99 * state[0] + 0.01 * g;
    });
    compare::<nomina_nn::optim::rule::Lion>(options, &wanted);
}

type Matrix = [[f64; 3]; 2];

/// Newton-Schulz iterations of a matrix of two rows and three columns.
fn orthogonal(mut x: Matrix) -> Matrix {
    let norm = x
        .iter()
        .flatten()
        .map(|x| x * x)
        .sum::<f64>()
        .sqrt()
        .max(1e-7);
    x = x.map(|row| row.map(|x| x / norm));
    for _ in 0..5 {
        let mut gram = [[0.0; 2]; 2];
        for (i, j, k) in (0..12).map(|n| (n / 6, n / 3 % 2, n % 3)) {
            gram[i][j] += x[i][k] * x[j][k];
        }
        let mut power = gram.map(|row| row.map(|x| -4.7750 * x));
        for (i, j, k) in (0..8).map(|n| (n / 4, n / 2 % 2, n % 2)) {
            power[i][j] += 2.0315 * gram[i][k] * gram[k][j];
        }
        let mut next = x.map(|row| row.map(|x| 3.4445 * x));
        for (i, j, k) in (0..12).map(|n| (n / 6, n / 2 % 3, n % 2)) {
            next[i][j] += power[i][k] * x[k][j];
        }
        x = next;
    }
    x
}

#[test]
fn muon() {
    for (nesterov, adjust_lr) in [(true, AdjustLr::Original), (false, AdjustLr::MatchRmsAdamW)] {
        let options = MuonOptions {
            lr: 0.01,
            nesterov,
            adjust_lr,
            ..MuonOptions::default()
        };
        // Two rows and three columns: `max(1, 2 / 3)`, or `max(2, 3)`.
        let factor = match adjust_lr {
            AdjustLr::Original => 1.0,
            AdjustLr::MatchRmsAdamW => 0.2 * 3.0_f64.sqrt(),
        };
        let (mut p, mut mean) = (START, [0.0; 6]);
        for _ in 0..STEPS {
            let mut update = [[0.0; 3]; 2];
            for at in 0..6 {
                let g = grad(at, p[at]);
                mean[at] += 0.05 * (g - mean[at]);
                update[at / 3][at % 3] = if nesterov {
                    g + 0.95 * (mean[at] - g)
                } else {
                    mean[at]
                };
            }
            let way = orthogonal(update);
            for at in 0..6 {
                p[at] = p[at] * (1.0 - 0.01 * 0.1) - 0.01 * factor * way[at / 3][at % 3];
            }
        }
        // Rounding grows in each iteration for small singular values.
        for (found, limit) in [
            (stepped::<_, f64>(&mut Muon::with(options)), 1e-9),
            (stepped::<_, f32>(&mut Muon::with(options)), 1e-3),
        ] {
            for (found, wanted) in found.iter().zip(&p) {
                assert!(
                    (found - wanted).abs() < limit,
                    "{options:?}: {found}, not {wanted}"
                );
            }
        }
    }
}

#[test]
fn muon_steps_vectors_by_adamw() {
    dims! { In, Out }
    let mut layer = Linear::new(In.of(3), Out.of(3));
    let mut twin = layer.fork();
    let mut muon = Muon::new(0.01).group_at("weight", |options| options.orthogonal = false);
    let mut adamw = AdamW::new(1e-3);
    let x = Tensor::<(Row, In)>::ones([4, 3]);
    for _ in 0..5 {
        layer.forward(&x).square().sum(..).backward();
        muon.step(&mut layer);
        twin.forward(&x).square().sum(..).backward();
        adamw.step(&mut twin);
    }
    assert_eq!(layer.weight.to_vec(), twin.weight.to_vec());
    let names = |state: Vec<(String, DynTensor)>| {
        state.into_iter().map(|(name, _)| name).collect::<Vec<_>>()
    };
    assert_eq!(names(muon.state()), names(adamw.state()));
}

/// A step of L-BFGS with one iteration and no line search, from the inverse of the approximate Hessian as a matrix:
/// Nocedal and Wright, "Numerical Optimization", equation 6.17, applied to the pairs of the history in order.
fn quasi_newton(pairs: &[([f64; 6], [f64; 6])], g: &[f64; 6]) -> [f64; 6] {
    let dot = |x: &[f64; 6], y: &[f64; 6]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    let Some((s, y)) = pairs.last() else {
        return g.map(|g| -g);
    };
    let gamma = dot(s, y) / dot(y, y);
    let mut h: [[f64; 6]; 6] =
        std::array::from_fn(|i| std::array::from_fn(|j| if i == j { gamma } else { 0.0 }));
    for (s, y) in pairs {
        let ro = 1.0 / dot(s, y);
        let hy: [f64; 6] = std::array::from_fn(|i| dot(&h[i], y));
        let yhy = dot(y, &hy);
        for i in 0..6 {
            for j in 0..6 {
                h[i][j] += (ro * ro * yhy + ro) * s[i] * s[j] - ro * (hy[i] * s[j] + s[i] * hy[j]);
            }
        }
    }
    std::array::from_fn(|i| -dot(&h[i], g))
}

#[test]
fn lbfgs() {
    let grads = |p: &[f64; 6]| std::array::from_fn(|at| grad(at, p[at]));
    let (mut p, mut pairs, mut g): (_, Vec<([f64; 6], [f64; 6])>, [f64; 6]) =
        (START, Vec::new(), grads(&START));
    // Few enough that the curvature of each pair stays far above rounding.
    let steps = 8;
    let options = LbfgsOptions {
        lr: 0.5,
        max_iter: 1,
        history_size: 3,
        ..LbfgsOptions::default()
    };
    let start = Tensor::<(Row, Column), f64>::from_vec(START.to_vec(), [2, 3]).unwrap();
    let (mut w, mut lbfgs) = (Param::new(start), Lbfgs::with(options));
    for n in 0..steps {
        let way = quasi_newton(&pairs, &g);
        let length = if n == 0 {
            0.5 * (1.0 / g.iter().map(|g| g.abs()).sum::<f64>()).min(1.0)
        } else {
            0.5
        };
        let next: [f64; 6] = std::array::from_fn(|at| p[at] + length * way[at]);
        let new = grads(&next);
        pairs.push((
            std::array::from_fn(|at| next[at] - p[at]),
            std::array::from_fn(|at| new[at] - g[at]),
        ));
        if pairs.len() > 3 {
            pairs.remove(0);
        }
        (p, g) = (next, new);
        if n == 4 {
            // A state that was saved goes on.
            let state = lbfgs.state();
            lbfgs = Lbfgs::with(options);
            lbfgs.load(state);
        }
        lbfgs.step(&mut w, |w| loss(w));
        for (found, wanted) in w.to_vec().iter().zip(&p) {
            assert!(
                (found - wanted).abs() < 1e-9,
                "step {n}: {found}, not {wanted}"
            );
        }
    }
}

#[test]
fn lbfgs_searches_along_the_valley() {
    // Rosenbrock's function, whose minimum is at (1, 1).
    let mut w = Param::new(tensor!([-1.5, 2.0]; Row).to::<f64>());
    let mut lbfgs = Lbfgs::with(LbfgsOptions {
        strong_wolfe: true,
        max_iter: 50,
        ..LbfgsOptions::default()
    });
    let valley = |w: &Param<(Row,), f64>| {
        let (x, y) = (w.narrow(Row, 0..1), w.narrow(Row, 1..2));
        ((1.0 - &x).square() + (y - x.square()).square() * 100.0).sum(..)
    };
    for _ in 0..3 {
        lbfgs.step(&mut w, valley);
    }
    // PyTorch's algorithm in NumPy: 42 iterations with 52 evaluations end here, by `tolerance_change`.
    for (found, wanted) in w.to_vec().iter().zip([0.9999834179202, 0.9999669023984]) {
        assert!((found - wanted).abs() < 1e-9, "{:?}", w.to_vec());
    }
    let state = lbfgs.state();
    let number = |at: usize| state[at].1.item().unwrap().to_f64();
    assert_eq!([number(0), number(1)], [52.0, 42.0]);
}
