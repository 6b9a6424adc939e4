use nomina::prelude::*;

dims! { C, K }

fn main() {
    let mut w = Tensor::<(C, K)>::zeros([3, 4]);
    let gx = Tensor::<(K, C)>::zeros([4, 3]);
    w -= gx * 0.1;
}

// fix: w -= gx.align_to((C, K)) * 0.1;
