use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = tensor!([true, 0]; N; bool);
}

// fix: let x = tensor!([true, false]; N);
