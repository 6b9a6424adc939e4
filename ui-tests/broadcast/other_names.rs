use nomina::prelude::*;

dims! { N, C, K }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let y = Tensor::<(K,)>::zeros([3]);
    let z = &x * &y;
}

// fix: let z = &x * y.rename(K, C);
