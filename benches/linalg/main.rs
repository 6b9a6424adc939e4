//! Solvers and decompositions, compared with the crate that computes them:
//! `cargo bench --features linalg --bench linalg -- [--json] [--only …] [--threads N]`.
//!
//! `nomina` takes a row-major matrix and returns tensors; `faer` uses its own matrix type.

#[path = "../harness/mod.rs"]
mod harness;

use faer::Mat;
use faer::linalg::solvers::{PartialPivLu, SelfAdjointEigen, Solve, Svd};
use harness::{Case, Options, case};
use nomina::prelude::*;

dims! { Row, Col, Rank }

const SIZES: [usize; 3] = [64, 256, 1024];

fn main() {
    let options = Options::read(&[]);
    rayon::ThreadPoolBuilder::new()
        .num_threads(options.threads)
        .build_global()
        .expect("nothing has started threads before");
    let cases: Vec<Case> = SIZES.into_iter().flat_map(cases).collect();
    harness::run(&cases, &options);
}

/// Returns a random matrix, and its symmetric part.
fn matrix(n: usize) -> [Tensor<(Row, Col), f64>; 2] {
    let a = Tensor::<(Row, Col)>::randn([n, n]).to::<f64>();
    let turned = a.transpose(Row, Col).rename((Col, Row), (Row, Col));
    let symmetric = (&a + &turned).contiguous();
    [a, symmetric]
}

fn faer_matrix(a: &Tensor<(Row, Col), f64>) -> Mat<f64> {
    let (n, elements) = (a.size(Row), a.to_vec());
    Mat::from_fn(n, n, |i, j| elements[i * n + j])
}

fn cases(n: usize) -> Vec<Case> {
    let ours = move || matrix(n);
    let theirs = move || matrix(n).map(|a| faer_matrix(&a));
    vec![
        case(format!("solve_{n}/nomina"), ours, |[a, b]| {
            a.solve(&b.rename(Col, Rank), (Row, Col))
        }),
        case(format!("solve_{n}/faer"), theirs, |[a, b]| {
            PartialPivLu::new(a.as_ref()).solve(&*b)
        }),
        case(format!("svd_{n}/nomina"), ours, |[a, _]| {
            a.svd((Row, Col), Rank)
        }),
        case(format!("svd_{n}/faer"), theirs, |[a, _]| {
            Svd::new_thin(a.as_ref()).expect("it converges")
        }),
        case(format!("eigh_{n}/nomina"), ours, |[_, b]| {
            b.eigh((Row, Col), Rank)
        }),
        case(format!("eigh_{n}/faer"), theirs, |[_, b]| {
            SelfAdjointEigen::new(b.as_ref(), faer::Side::Lower).expect("it converges")
        }),
    ]
}
