use nomina::prelude::*;

dims! { Rgb: String = { R, G, B } }

fn main() {
    let _x = Tensor::zeros((Rgb,));
}

// fix 3: dims! { Rgb = { R, G, B } }
