use nomina::prelude::*;

dims! { N, C, H }

fn main() {
    let x = Tensor::<(N, C, H)>::zeros([2, 3, 4]);
    let y = Tensor::<(N, H, C)>::zeros([2, 4, 3]);
    let z = &x + &y;
}

// fix: let z = &x + y.align_as(&x);
