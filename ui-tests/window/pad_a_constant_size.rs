use nomina::prelude::*;

dims! { N, Rgb = 3 }

fn main() {
    let x = Tensor::<(N, Rgb)>::zeros([2, 3]);
    let y = x.pad(Rgb, [(1, 1)]);
}

// fix 3: dims! { N, C, Rgb = 3 }
// fix: let y = x.rename(Rgb, C).pad(C, [(1, 1)]);
