use nomina::prelude::*;

dims! { N }

fn main() {
    let x = tensor!([1x, 0]; N);
}

// fix: let x = tensor!([1i32, 0]; N);
