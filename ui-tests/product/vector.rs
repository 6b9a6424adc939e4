use nomina::prelude::*;

dims! { N, K, M }

fn main() {
    let x = Tensor::<(N, K)>::zeros([2, 3]);
    let w = Tensor::<(K, M)>::zeros([3, 4]);
    let y = x.mv(&w);
}

// fix: let y = x.mm(&w);
