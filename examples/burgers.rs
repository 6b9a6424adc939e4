//! Burgers' equation, `u_t + u u_x = ν u_xx` with periodic ends, by Fourier transforms, beside its exact solution.
//!
//! ```sh
//! cargo run --release -p nomina-examples --features fft --example burgers
//! ```
//!
//! `scripts/programs/burgers.py` is the same program for PyTorch.

use std::f64::consts::TAU;

use nomina::Complex;
use nomina::prelude::*;

dims! {
    /// Grid points of one period; after a transform, frequencies.
    pub X,
}

/// A function on a grid, and its spectrum.
type Wave = Tensor<(X,), f64>;
type Spectrum = Tensor<(X,), Complex<f64>>;

/// Returns the grid points from 0 to 2π.
pub fn grid(points: usize) -> Wave {
    Tensor::arange(0.0, points as f64, 1.0) * (TAU / points as f64)
}

/// Returns the frequencies of `rfft`.
fn frequencies(points: usize) -> Wave {
    Tensor::arange(0.0, (points / 2 + 1) as f64, 1.0)
}

/// Returns the derivative of a function by its spectrum: each frequency times `i k`.
fn derivative(spectrum: &Spectrum, points: usize) -> Wave {
    let k = frequencies(points);
    (spectrum * k.zeros_like().complex(&k)).irfft(X, points)
}

/// Advances by one time step of the fourth-order Runge-Kutta method. Diffusion is exact, by an integrating factor, and the
/// upper third of all frequencies is dropped from products, which would otherwise be aliased.
pub fn step(u: &Wave, viscosity: f64, time: f64) -> Wave {
    let points = u.size(X);
    let k = frequencies(points);
    let kept = k.le(points as f64 / 3.0).to::<f64>();
    let half = (k.square() * (-viscosity * time / 2.0)).exp();
    let slope = |spectrum: &Spectrum| -> Spectrum {
        let product = spectrum.irfft(X, points) * derivative(spectrum, points);
        product.rfft(X) * &kept * -time
    };
    let start = u.rfft(X);
    let middle = &start * &half;
    let a = slope(&start);
    let b = slope(&((&start + &a * 0.5) * &half));
    let c = slope(&(&middle + &b * 0.5));
    let d = slope(&((&middle + &c) * &half));
    let end = (&middle + &a * &half / 6.0) * &half + (b + c) * &half / 3.0 + d / 6.0;
    end.irfft(X, points)
}

/// Returns the exact solution that begins as `sin x`, by the transformation of Cole and Hopf: with `u = -2 ν φ_x / φ`, the
/// function `φ` obeys the heat equation.
pub fn exact(points: usize, viscosity: f64, time: f64) -> Wave {
    let start = ((grid(points).cos() - 1.0) / (2.0 * viscosity)).exp();
    let spectrum = start.rfft(X) * (frequencies(points).square() * (-viscosity * time)).exp();
    derivative(&spectrum, points) / spectrum.irfft(X, points) * (-2.0 * viscosity)
}

fn main() {
    let (points, viscosity, time, steps) = (256, 0.05, 1.5, 600);
    let computed = (0..steps).fold(grid(points).sin(), |u, _| {
        step(&u, viscosity, time / f64::from(steps))
    });
    let error = (&computed - exact(points, viscosity, time)).abs().amax(..);
    println!(
        "at {time}: the steepest slope is {:.3}, and no point is off by more than {:.1e}",
        derivative(&computed.rfft(X), points).amin(..).item(),
        error.item()
    );
}
