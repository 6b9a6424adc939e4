use nomina::prelude::*;

dims! { N, C, Rgb = 3 }

fn main() {
    let x = Tensor::<(N, Rgb)>::zeros([2, 3]);
    let parts = x.split(Rgb, 2);
}

// fix: let parts = x.rename(Rgb, C).split(C, 2);
