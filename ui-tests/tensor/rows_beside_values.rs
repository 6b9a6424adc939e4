use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = tensor!([[1, 2], [[3], [4]]]; N, C);
}

// fix: let x = tensor!([[1, 2], [3, 4]]; N, C);
