use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = tensor!([[1.]]; N, C; f64, 3);
}

// fix: let x = tensor!([[1.]]; N, C; f64);
