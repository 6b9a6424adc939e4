use nomina::prelude::*;

dims! { N }

fn main() {
    let x = tensor!([[1., 2.]]; N, N);
}

// fix: let x = tensor!([[1., 2.]]; N, Prime<N>);
