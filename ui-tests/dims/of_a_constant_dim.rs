use nomina::prelude::*;

dims! { Rgb = 3 }

fn main() {
    let x = Tensor::<(Rgb,)>::zeros((Rgb.of(3),));
}

// fix: let x = Tensor::<(Rgb,)>::zeros((Rgb,));
