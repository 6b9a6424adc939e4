use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = tensor!([1.]; _);
}

// fix: let x = tensor!([1.]; Wild);
