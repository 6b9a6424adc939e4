use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = tensor!([1, [2], 3]; N);
}

// fix: let x = tensor!([1, 2, 3]; N);
