use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let y = stack(&[&x, &x], N);
}

// fix: let y = cat(&[&x, &x], N);
