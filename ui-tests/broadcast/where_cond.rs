use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let y = Tensor::<(N,)>::zeros([2]);
    let z = x.lt(0.0).where_cond(&x, &y);
}

// fix: let z = x.lt(0.0).where_cond(&x, &y.align_as(&x));
