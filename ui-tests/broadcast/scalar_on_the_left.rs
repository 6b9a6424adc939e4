use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let y = Tensor::<(N,)>::zeros([2]);
    let z = 2.0 * &x - &y;
}

// fix: let z = 2.0 * &x - y.align_as(&x);
