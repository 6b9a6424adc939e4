//! The heat equation on a square plate with cold edges, by finite differences.

use std::f64::consts::PI;

use nomina::prelude::*;

dims! {
    /// Grid points from left to right.
    pub X,
    /// Grid points from bottom to top.
    pub Y,
}

/// Returns the initial temperatures, highest in the middle: `sin(πx) sin(πy)` on a plate of side 1,
/// with grid points on its edges.
pub fn start(points: usize) -> Tensor<(X, Y), f64> {
    let wave: Tensor<(X,), f64> = (Tensor::linspace(0.0, PI, points)).sin();
    wave.outer(&wave.rename(X, Y))
}

/// Advances by one time step. `ratio` is the time step divided by the square of the grid spacing,
/// at most a quarter.
pub fn step(u: &Tensor<(X, Y), f64>, ratio: f64) -> Tensor<(X, Y), f64> {
    let inside = |dim: usize| 1..dim - 1;
    let along_x = u.diff(X).diff(X).narrow(Y, inside(u.size(Y)));
    let along_y = u.diff(Y).diff(Y).narrow(X, inside(u.size(X)));
    // Points on the edges do not change.
    u + ((along_x + along_y) * ratio).pad((X, Y), [(1, 1), (1, 1)])
}

/// Returns the exact solution at a time.
pub fn exact(points: usize, time: f64) -> Tensor<(X, Y), f64> {
    start(points) * (-2.0 * PI * PI * time).exp()
}

fn main() {
    let (points, ratio, steps) = (41, 0.2, 400);
    let computed = (0..steps).fold(start(points), |u, _| step(&u, ratio));
    let time = ratio * f64::from(steps) / 40.0_f64.powi(2);
    let error = (&computed - exact(points, time)).abs().amax(..).item();
    println!(
        "at {time}: {:.5} in the middle, off by {error:.1e}",
        computed.amax(..).item()
    );
}
