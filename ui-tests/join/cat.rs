use nomina::prelude::*;

dims! { N, C, H }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let y = cat(&[&x, &x], H);
}

// fix: let y = stack(&[&x, &x], H);
