//! Places drawn along a dim that has a constant size.

use nomina::prelude::*;

dims! { N, Rgb = 3 }

fn main() {
    let x = Tensor::<(N, Rgb)>::ones([2, 3]);
    let _ = x.multinomial(2, Rgb);
}

// fix 5: dims! { N, C, Rgb = 3 }
// fix: let _ = x.rename(Rgb, C).multinomial(2, C);
