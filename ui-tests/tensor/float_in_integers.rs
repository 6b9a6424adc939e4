use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = tensor!([1.5, 2]; N; i32);
}

// fix: let x = tensor!([1, 2]; N; i32);
