use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let y = cat(&[&x, &x], 0);
}

// fix: let y = cat(&[&x, &x], N);
