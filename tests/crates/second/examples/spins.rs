//! A ring of spins as a tensor network, with sites and dims of another crate.

use first::nomina::prelude::*;
use first::{Left, Right, Spin, aklt};

dims! {
    /// The bonds of a site and of its mirror image to the previous site.
    In,
    /// Their bonds to the next site.
    Out,
    /// The bond between two sites.
    Bond,
}

/// Returns a site and its mirror image, with an operator on the spin between them.
fn site(operator: &Tensor<(Spin, Prime<Spin>), f64>) -> Tensor<(In, Out), f64> {
    let mirror = aklt().prime(Spin).prime(Left).prime(Right);
    let pair = aklt()
        .contract(operator, Spin)
        .contract(&mirror, Prime(Spin));
    let pair = pair.align_to((Left, Prime(Left), Right, Prime(Right)));
    pair.flatten((Left, Prime(Left)), In)
        .flatten((Right, Prime(Right)), Out)
}

/// Contracts all bonds of a ring to a number.
fn ring(sites: impl IntoIterator<Item = Tensor<(In, Out), f64>>) -> f64 {
    let join = |chain: Tensor<(In, Out), f64>, site: Tensor<(In, Out), f64>| {
        chain
            .rename(Out, Bond)
            .contract(&site.rename(In, Bond), Bond)
    };
    sites
        .into_iter()
        .reduce(join)
        .map_or(1.0, |chain| chain.trace().item())
}

/// Returns the identity operator.
fn identity() -> Tensor<(Spin, Prime<Spin>), f64> {
    Tensor::<(Spin, Prime<Spin>)>::eye((Spin, Prime(Spin))).double()
}

/// Returns the squared norm of a ring of spins.
pub fn norm(spins: usize) -> f64 {
    ring((0..spins).map(|_| site(&identity())))
}

/// Returns the mean product of two spins of a ring that are `apart` sites apart.
pub fn correlation(spins: usize, apart: usize) -> f64 {
    let up = tensor!([[1., 0., 0.], [0., 0., 0.], [0., 0., -1.]]; Spin, Prime<Spin>; f64);
    let one = identity();
    let operator = |at| if at == 0 || at == apart { &up } else { &one };
    ring((0..spins).map(|at| site(operator(at)))) / norm(spins)
}

fn main() {
    println!("norm: {:.6}", norm(20));
    for apart in 1..5 {
        println!("{apart} apart: {:+.6}", correlation(20, apart));
    }
}
