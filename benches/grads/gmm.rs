//! ADBench's Gaussian mixture: the log-likelihood of points, with full covariances and a Wishart prior.

use nomina::prelude::*;

use crate::inputs::{Mixture, Wishart};

dims! {
    /// Points.
    pub N,
    /// Components of the mixture.
    pub K,
    /// Coordinates of a point.
    pub D,
    /// Rows of an inverse factor.
    pub Row,
    /// Rows and columns of an inverse factor, flattened.
    pub Cell,
    /// The parameters of an inverse factor: the logarithms of its diagonal, then the entries below, row by row.
    pub Entry,
}

/// Logarithms of the weights, up to a constant; means; and inverse Cholesky factors of the covariances.
pub type Parameters = (
    Tensor<(K,), f64>,
    Tensor<(K, D), f64>,
    Tensor<(K, Entry), f64>,
);

/// The constant inputs.
pub struct Given {
    x: Tensor<(N, D), f64>,
    /// The positions in an inverse factor of the entries below its diagonal.
    below: Tensor<(Entry,), i64>,
    /// An inverse factor of zeros for each component.
    empty: Tensor<(K, Cell), f64>,
    wishart: Wishart,
    constant: f64,
}

pub fn inputs(sizes: &Mixture) -> Result<(Parameters, Given)> {
    let &Mixture {
        points: n,
        dims: d,
        components: k,
        wishart,
    } = sizes;
    let [alphas, means, factors, x] = sizes.inputs();
    let below = (0..d).flat_map(|row| (0..row).map(move |column| (row * d + column) as i64));
    let parameters = (
        Tensor::from_vec(alphas, [k])?,
        Tensor::from_vec(means, [k, d])?,
        Tensor::from_vec(factors, [k, sizes.entries()])?,
    );
    let given = Given {
        x: Tensor::from_vec(x, [n, d])?,
        below: Tensor::from_vec(below.collect(), [sizes.entries() - d])?,
        empty: Tensor::zeros([k, d * d]),
        wishart,
        constant: sizes.constant(),
    };
    Ok((parameters, given))
}

/// Returns the log density of all points, plus the log prior of all inverse factors.
pub fn log_density(
    alphas: &Tensor<(K,), f64>,
    means: &Tensor<(K, D), f64>,
    factors: &Tensor<(K, Entry), f64>,
    given: &Given,
) -> Tensor<(), f64> {
    let d = given.x.size(D);
    let log_diagonal = factors.narrow(Entry, ..d).rename(Entry, D);
    let (diagonal, lower) = (log_diagonal.exp(), factors.narrow(Entry, d..));
    let log_det = log_diagonal.sum(D);

    let factor = given.empty.index_copy(Cell, &given.below, &lower);
    let factor = factor.unflatten(Cell, (Row.of(d), D.of(d))) + diagonal.diag_embed(D, Row, D);
    let centred: Tensor<(N, K, D), f64> = given.x.align_to((N, K, D)) - means;
    let scaled: Tensor<(N, K, Row), f64> = centred.contract(&factor, D);
    let by_component = alphas + &log_det - scaled.square().sum(Row) * 0.5;
    let points = by_component.logsumexp(K).sum(N) - alphas.logsumexp(K) * given.x.size(N) as f64;

    let Wishart { gamma, m } = given.wishart;
    let squares = diagonal.square().sum(..) + lower.square().sum(..);
    let prior = log_det.sum(K) * m as f64 - squares * (0.5 * gamma * gamma);
    points + prior + given.constant
}
