//! The results of examples that solve systems of equations, against plain loops.

// Includes their `main`s, which are unused here.
#[allow(dead_code)]
#[path = "../kalman.rs"]
mod kalman;
#[allow(dead_code)]
#[path = "../readout.rs"]
mod readout;

use nomina::prelude::*;

fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance
}

/// Returns positions close to a straight line.
fn track() -> Vec<f64> {
    (0..30)
        .map(|at| f64::from(at) * 0.5 + 2.0 + (f64::from(at) * 12.9898).sin())
        .collect()
}

#[test]
fn a_regression_by_its_formula() {
    use kalman::{Seen, State, Time, regression};
    let track = track();
    let line = regression(&Tensor::<(Time, Seen), _>::from_vec(track.clone(), [30, 1]).unwrap());
    let (n, mean) = (30.0, track.iter().sum::<f64>() / 30.0);
    let middle = (n - 1.0) / 2.0;
    let apart = |at: usize| at as f64 - middle;
    let slope = track
        .iter()
        .enumerate()
        .map(|(at, y)| apart(at) * (y - mean))
        .sum::<f64>()
        / (0..30).map(|at| apart(at).powi(2)).sum::<f64>();
    let line: Tensor<(State,), f64> = line.select(Seen, 0);
    assert!(
        line.allclose(&tensor!([mean - slope * middle, slope]; State)),
        "{line}"
    );
}

#[test]
fn a_kalman_filter_by_scalars() {
    use kalman::{Kalman, Seen, State};
    let filter = Kalman::constant_speed(0.01, 1.0);
    let mut belief = (
        tensor!([0., 0.]; State; f64),
        tensor!([[100., 0.], [0., 100.]]; State, Prime<State>; f64),
    );
    let (mut x, mut v) = (0.0, 0.0);
    let [mut xx, mut xv, mut vv] = [100.0, 0.0, 100.0];
    for seen in track() {
        belief = filter.predict(&belief);
        belief = filter.update(&belief, &tensor!([seen]; Seen));

        (x, xx, xv, vv) = (x + v, xx + 2.0 * xv + vv + 0.01, xv + vv, vv + 0.01);
        let (surprise, spread) = (seen - x, xx + 1.0);
        let gain = [xx / spread, xv / spread];
        (x, v) = (x + gain[0] * surprise, v + gain[1] * surprise);
        (xx, xv, vv) = (xx - gain[0] * xx, xv - gain[0] * xv, vv - gain[1] * xv);
        assert!(
            belief.0.allclose(&tensor!([x, v]; State)),
            "{}, not {x}, {v}",
            belief.0
        );
        let covariance = tensor!([[xx, xv], [xv, vv]]; State, Prime<State>);
        assert!(
            belief.1.allclose(&covariance),
            "{}, not {covariance}",
            belief.1
        );
    }
    assert!(close(v, 0.5, 0.2), "{v}");
}

#[test]
fn a_readout_is_ridge_regression() {
    use readout::{Class, Feature, features, pictures, readout};
    manual_seed(3);
    let (weight, bias) = (Tensor::randn([5, 3, 60]), Tensor::randn([60]));
    let (images, labels) = pictures(400, 0.2);
    let seen = features(&images, &weight, &bias);
    let second = readout(&seen, &labels, 1.0);

    // The features against loops; and the readout is optimal: its gradient, with the penalty, is
    // zero.
    let (inner, bias_list) = (weight.to_vec(), bias.to_vec());
    let image_of = images.to_vec();
    let feature = |n: usize, f: usize| {
        let image = image_of[15 * n..][..15].iter().enumerate();
        let sum: f64 = image.map(|(p, x)| f64::from(x * inner[60 * p + f])).sum();
        (sum + f64::from(bias_list[f])).max(0.0)
    };
    let wanted: Vec<Vec<f64>> = (0..400)
        .map(|n| (0..60).map(|f| feature(n, f)).collect())
        .collect();
    for (computed, wanted) in seen.iter().zip(wanted.iter().flatten()) {
        assert!(
            close(computed.into(), *wanted, 1e-4),
            "{computed}, not {wanted}"
        );
    }
    let second_of: Vec<f64> = second.iter().map(f64::from).collect();
    for class in 0..10 {
        let error = |(n, seen): (usize, &Vec<f64>)| {
            let score: f64 = (0..60).map(|f| seen[f] * second_of[10 * f + class]).sum();
            score - f64::from(u8::from(n % 10 == class))
        };
        let errors: Vec<f64> = wanted.iter().enumerate().map(error).collect();
        for f in 0..60 {
            let slope: f64 = errors
                .iter()
                .zip(&wanted)
                .map(|(e, seen)| e * seen[f])
                .sum();
            assert!(
                close(slope + second_of[10 * f + class], 0.0, 0.05),
                "{slope}"
            );
        }
    }

    let (images, labels) = pictures(200, 0.2);
    let scores = features(&images, &weight, &bias).contract(&second, Feature);
    let right = scores.argmax(Class).eq(&labels).float().mean(..).item();
    assert!(right > 0.9, "{right}");
}
