//! A batch of an enum.
use nomina::loops::Batch;
use nomina::prelude::*;
dims! { C }

#[derive(Batch)]
enum Sample { Labelled(Tensor<(C,)>, i64) }

fn main() {
    let _: fn(Tensor<(C,)>, i64) -> _ = Sample::Labelled;
}
// fix 6: #[derive(Clone)]
