use nomina::prelude::*;

dims! { A, B, C, H, W }

fn main() {
    let x = Tensor::<(A, B, C, H, W)>::zeros([1; 5]);
    let y = Tensor::<(C,)>::zeros([1]);
    let z = &x - &y;
}

// fix: let z = &x - y.align_as(&x);
