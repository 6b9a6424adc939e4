use nomina::prelude::*;

dims! { N, K, M }

fn main() {
    let x = Tensor::<(N, K)>::zeros([2, 3]);
    let w = Tensor::<(K, M)>::zeros([3, 4]);
    let y = x.contract(&w, "K");
}

// fix: let y = x.contract(&w, K);
