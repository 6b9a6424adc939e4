//! Bodies that attract each other; threads share the bodies, and tensors are sent across.

use std::thread;

use nomina::prelude::*;

dims! {
    /// What is pulled.
    pub Body,
    /// What pulls.
    pub Other,
    /// Coordinates.
    pub Axis = 3,
}

/// What pulls each of `some` bodies: all the others, by the inverse square of how far they are.
pub fn forces(some: &Tensor<(Body, Axis)>, all: &Tensor<(Body, Axis)>) -> Tensor<(Body, Axis)> {
    let apart = all.rename(Body, Other) - some.align_to((Body, Other, Axis));
    // A body's own term is 0 by a small number, and not 0 by 0.
    let cubed = (apart.square().sum(keep(Axis)) + 1e-4).pow(1.5);
    (apart / cubed).sum(Other)
}

/// The same by so many threads: a tensor is a handle that any thread may hold.
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
