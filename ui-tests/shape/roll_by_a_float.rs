use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let y = x.roll(0.5, C);
}

// fix: let y = x.roll(1, C);
