use nomina::prelude::*;

dims! { N, Rgb = 3 }

fn main() {
    let x = Tensor::<(N, Rgb)>::zeros([2, 3]);
    let y = cat(&[&x, &x], Rgb);
}

// fix: let y = cat(&[&x, &x], N);
