use nomina::prelude::*;

dims! { N, C }

fn main() {
    let mut x = Tensor::<(N, C)>::zeros([2, 3]);
    let y = Tensor::<(N,)>::zeros([2]);
    x += &y;
}

// fix: x += y.align_as(&x);
