use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let y = &x > 0.5;
}

// fix 7: let y = x.gt(0.5);
