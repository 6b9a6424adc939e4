//! Fits a straight line to noisy points: by least squares over all points, and by a Kalman filter point by point.

use nomina::prelude::*;

dims! {
    /// Points in time.
    pub Time,
    /// Position and speed.
    pub State = 2,
    /// The state of the previous step.
    pub Before = 2,
    /// The measured quantity: the position.
    pub Seen,
}

/// Returns the start and the slope of the least-squares line through `seen`.
pub fn regression(seen: &Tensor<(Time, Seen), f64>) -> Tensor<(State, Seen), f64> {
    let design = Tensor::<(Time, State), f64>::from_fn([seen.size(Time), 2], |at| {
        (at[0] as f64).powi(at[1] as i32)
    });
    design.lstsq(seen, (Time, State))
}

/// A Kalman filter: the matrices of motion and measurement, and the covariances of their noise.
pub struct Kalman {
    moves: Tensor<(State, Before), f64>,
    sees: Tensor<(Seen, State), f64>,
    process: Tensor<(State, Prime<State>), f64>,
    noise: Tensor<(Seen, Prime<Seen>), f64>,
}

/// The mean and the covariance of a state.
pub type Belief = (Tensor<(State,), f64>, Tensor<(State, Prime<State>), f64>);

impl Kalman {
    /// Returns a filter for motion at constant speed, with measured positions.
    pub fn constant_speed(process: f64, noise: f64) -> Self {
        Self {
            moves: tensor!([[1., 1.], [0., 1.]]; State, Before; f64),
            sees: tensor!([[1., 0.]]; Seen, State; f64),
            process: tensor!([[1., 0.], [0., 1.]]; State, Prime<State>; f64) * process,
            noise: tensor!([[noise]]; Seen, Prime<Seen>),
        }
    }

    /// Predicts the next state, before its measurement.
    pub fn predict(&self, (x, p): &Belief) -> Belief {
        let before = p.rename((State, Prime(State)), (Before, Prime(Before)));
        let half = self.moves.contract(&before, Before);
        let p = half.contract(&self.moves.prime(State).prime(Before), Prime(Before));
        (
            self.moves.contract(&x.rename(State, Before), Before),
            p + &self.process,
        )
    }

    /// Updates the state with a measurement.
    pub fn update(&self, (x, p): &Belief, seen: &Tensor<(Seen,), f64>) -> Belief {
        let cross: Tensor<(Seen, Prime<State>), f64> = self.sees.contract(p, State);
        let spread =
            cross.contract(&self.sees.prime(Seen).prime(State), Prime(State)) + &self.noise;
        let gain = spread.solve(&cross, (Seen, Prime(Seen))); // (Seen', State')
        let gain = gain.rename((Prime(Seen), Prime(State)), (Seen, State));
        let surprise = seen - self.sees.contract(x, State);
        (
            x + gain.contract(&surprise, Seen),
            p - gain.contract(&cross, Seen),
        )
    }
}

fn main() {
    manual_seed(1);
    let truth: Tensor<(Time,), f64> = Tensor::arange(0.0, 50.0, 1.0) * 0.5 + 2.0;
    let seen = (&truth + truth.randn_like()).align_to((Time, Seen));
    println!("least squares: {}", regression(&seen).select(Seen, 0));
    let filter = Kalman::constant_speed(1e-6, 1.0);
    let start = (
        tensor!([0., 0.]; State; f64),
        tensor!([[100., 0.], [0., 100.]]; State, Prime<State>; f64),
    );
    let (state, _) = seen.iter_dim(Time).fold(start, |belief, seen| {
        filter.update(&filter.predict(&belief), &seen)
    });
    println!("position and speed at the end: {state}");
}
