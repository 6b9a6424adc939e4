use nomina::grad::vjp;
use nomina::prelude::*;

dims! { N, C, K }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let w = Tensor::<(C, K)>::zeros([3, 4]);
    let seed = Tensor::<(K, N)>::ones([4, 2]);
    let (y, g) = vjp(|w| x.matmul(w), &w, &seed);
}

// fix: let (y, g) = vjp(|w| x.matmul(w), &w, &seed.align_to((N, K)));
