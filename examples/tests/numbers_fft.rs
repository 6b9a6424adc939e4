//! The results of examples that use Fourier transforms, against exact solutions.

// Includes its `main`, which is unused here.
#[allow(dead_code)]
#[path = "../burgers.rs"]
mod burgers;

use burgers::{X, exact, grid, step};

#[test]
fn burgers_equation_is_solved_to_the_fourth_order() {
    let (points, viscosity, time) = (128, 0.3, 1.0);
    let error = |steps: u32| {
        let start = grid(points).sin();
        let end = (0..steps).fold(start, |u, _| step(&u, viscosity, time / f64::from(steps)));
        (end - exact(points, viscosity, time)).abs().amax(..).item()
    };
    let [coarse, fine] = [20, 40].map(error);
    assert!(coarse < 1e-5, "{coarse}");
    assert!((12.0..20.0).contains(&(coarse / fine)), "{coarse}, {fine}");
}

#[test]
fn burgers_equation_keeps_the_mean_and_loses_energy() {
    let start = grid(64).sin() + 0.25;
    let end = (0..50).fold(start.clone(), |u, _| step(&u, 0.1, 0.01));
    assert!((end.mean(X) - start.mean(X)).abs().item() < 1e-14);
    assert!(end.square().sum(X).item() < start.square().sum(X).item() * 0.95);
}
