use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = tensor!([1., 2.]; N; 64);
    let y = x.sum(N).item() + 1.0;
}

// fix: let x = tensor!([1., 2.]; N; f64);
