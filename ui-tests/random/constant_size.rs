//! Places drawn along a dim that has a constant size.

use nomina::prelude::*;

dims! { N, Rgb = 3 }

fn main() {
    let x = Tensor::<(N, Rgb)>::ones([2, 3]);
    let _ = x.multinomial(2, Rgb);
}
