//! Probabilities whose dims do not broadcast to the tensor's.
use nomina::prelude::*;

dims! { N, C, K }

fn main() {
    let mut x = Tensor::<(N, C)>::zeros([2, 3]);
    let p = Tensor::<(K,)>::zeros([3]);
    x.bernoulli_(&p);
}

// fix: x.bernoulli_(&p.rename(K, C));
