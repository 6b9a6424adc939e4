use nomina::prelude::*;

dims! { Rgb = { R, G, R } }

fn main() {
    let _x = Tensor::zeros((Rgb,));
}

// fix 3: dims! { Rgb = { R, G, B } }
