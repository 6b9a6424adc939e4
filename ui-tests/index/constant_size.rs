use nomina::prelude::*;

dims! { N, Rgb = 3 }

fn main() {
    let x = Tensor::<(N, Rgb)>::zeros([2, 3]);
    let y = x.at((Rgb.i(1..),));
}

// fix 3: dims! { N, C, Rgb = 3 }
// fix 7: let y = x.rename(Rgb, C).at((C.i(1..),));
