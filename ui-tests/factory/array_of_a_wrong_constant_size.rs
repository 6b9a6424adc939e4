use nomina::prelude::*;

dims! { N, Rgb = 3 }

fn main() {
    let x = tensor!([[1., 2.]]; N, Rgb);
}

// fix: let x = tensor!([[1., 2., 3.]]; N, Rgb);
