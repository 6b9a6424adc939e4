use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = tensor!(; N);
    let y = x.sum(N).item() + 1.0;
}

// fix: let x = tensor!([1.]; N);
