//! Bodies that attract each other: threads share the bodies, and tensors are sent between threads.

use std::thread;

use nomina::prelude::*;

dims! {
    /// The attracted bodies.
    pub Body,
    /// The attracting bodies.
    pub Other,
    /// Coordinates.
    pub Axis = 3,
}

/// Returns the force on each of `some` bodies from all others, by the inverse square of the
/// distance.
pub fn forces(some: &Tensor<(Body, Axis)>, all: &Tensor<(Body, Axis)>) -> Tensor<(Body, Axis)> {
    let apart = all.rename(Body, Other) - some.align_to((Body, Other, Axis));
    // The small number turns a body's own term into 0 instead of 0 / 0.
    let cubed = (apart.square().sum(keep(Axis)) + 1e-4).pow(1.5);
    (apart / cubed).sum(Other)
}

/// Like [`forces`], but on several threads: a tensor is a handle that threads can share.
pub fn shared(bodies: &Tensor<(Body, Axis)>, threads: usize) -> Tensor<(Body, Axis)> {
    let parts: Vec<_> = thread::scope(|scope| {
        let parts = bodies.chunk(Body, threads).into_iter();
        let started: Vec<_> = parts
            .map(|part| scope.spawn(move || forces(&part, bodies)))
            .collect();
        let ended = started.into_iter().map(|thread| thread.join());
        ended.map(|part| part.expect("no thread panics")).collect()
    });
    cat(&parts, Body)
}

fn main() {
    manual_seed(1);
    let bodies = Tensor::<(Body, Axis)>::randn([500, 3]);
    let (alone, together) = (forces(&bodies, &bodies), shared(&bodies, 4));
    println!("the same forces: {}", together.equal(&alone));
    println!("they add up to {:.4}", together.sum(Body));
}
