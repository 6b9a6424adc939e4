use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = tensor!([[1., 2.]]; N, 2);
}

// fix: let x = tensor!([[1., 2.]]; N, C);
