use nomina::prelude::*;

dims! { N }
dims! { Rgb = 3 }

fn main() {
    let x = Tensor::<(N, Rgb)>::zeros([2, 3]);
    let y = x.narrow(Rgb, 0..2);
}

// fix 3: dims! { N, C }
// fix: let y = x.rename(Rgb, C).narrow(C, 0..2);
