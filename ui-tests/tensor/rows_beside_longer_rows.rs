use nomina::prelude::*;

dims! { N, C, H }

fn main() {
    let x = tensor!([[[1], [2]], [[3], [4]], [5, 6]]; N, C, H);
}

// fix: let x = tensor!([[[1], [2]], [[3], [4]], [[5], [6]]]; N, C, H);
