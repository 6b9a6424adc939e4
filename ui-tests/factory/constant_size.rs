use nomina::prelude::*;

dims! { N }
dims! { Rgb = 3 }

fn main() {
    let x = Tensor::zeros((N.of(2), Rgb.of(4)));
}

// fix: let x = Tensor::zeros((N.of(2), Rgb));
