//! A word that `#[batch(..)]` does not know.
use nomina::loops::Batch;
use nomina::prelude::*;
dims! { N, C }

#[derive(Batch)]
#[batch(named = Samples)]
struct Sample {
    x: Tensor<(C,)>,
}

fn main() {
    let samples = vec![Sample { x: tensor!([1., 2.]; C) }];
    let _ = samples.into_iter().map(|sample| sample.x.sum(C).item()).sum::<f32>();
    let _ = N;
}
// fix: #[batch(name = Samples)]
