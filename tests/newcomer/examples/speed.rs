//! Measures kernels compiled without optimisation: `cargo run --example speed` in `tests/newcomer`.

use std::hint::black_box;
use std::time::Instant;

use nomina::prelude::*;

dims! { N, C, K }

/// Returns the median time of nine runs, in milliseconds.
fn median(mut run: impl FnMut()) -> f64 {
    let mut times: Vec<f64> = (0..9)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[4]
}

fn main() {
    nomina::allow_unoptimized();
    let a: Tensor<(N, C)> = Tensor::randn([512, 512]);
    let b: Tensor<(C, K)> = Tensor::randn([512, 512]);
    let product = median(|| drop(black_box(a.contract(&b, C))));
    println!("contract, 512 x 512 x 512: {product:.1} ms");
    let x: Tensor<(N, C)> = Tensor::randn([1000, 1000]);
    let chain = median(|| drop(black_box((&x * 2.0 + 1.0).exp().sum(C))));
    println!("(x * 2 + 1).exp().sum(C), 1000 x 1000: {chain:.1} ms");
}
