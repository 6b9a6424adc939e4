use nomina::prelude::*;

dims! { Rgb = {} }

fn main() {
    let _x = Tensor::<(Rgb,)>::zeros([3]);
}

// fix 3: dims! { Rgb = { R, G, B } }
