use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = tensor!(["a"]; N);
}

// fix: let x = tensor!([1]; N);
