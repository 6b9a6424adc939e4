use nomina::prelude::*;

dims! { N, C, Rgb = 3 }

fn main() {
    let x = Tensor::<(N, Rgb)>::zeros([2, 3]);
    let y = x.repeat(Rgb.of(2));
}

// fix: let y = x.rename(Rgb, C).repeat(C.of(2));
