use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let y = Tensor::<(N,)>::zeros([2]);
    let z = x.lt(&y);
}

// fix: let z = x.lt(y.align_as(&x));
