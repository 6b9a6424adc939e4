use nomina::prelude::*;

dims! { N, K }

fn main() {
    let x = Tensor::<(N, K)>::zeros([2, 3]);
    let w = Tensor::<(N, K)>::zeros([2, 3]);
    let y = x.tensordot(&w, K);
}

// fix: let y = x.contract(&w, K);
